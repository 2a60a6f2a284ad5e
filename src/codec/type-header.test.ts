import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { apiVersionFault, bodyHeader } from './type-header.ts'

const headers: [Json, string, string][] = [
  [null, '', ''],
  [{}, '', ''],
  [{ kind: 'Pod', apiVersion: 'v1' }, 'v1', 'Pod'],
  [{ kind: null, apiVersion: 'apps/v1' }, 'apps/v1', ''],
  // Keys match in any case, the last one is used, and null is ignored.
  [{ KIND: 'Pod', APIversion: 'v1' }, 'v1', 'Pod'],
  [{ kind: 'Pod', Kind: 'Node', apiVersion: 'v1' }, 'v1', 'Node'],
  [{ Kind: 'Node', kind: 'Pod', apiVersion: 'v1' }, 'v1', 'Pod'],
  [{ kind: 'Pod', Kind: null, apiVersion: 'v1', data: {}, apiversioN: 'v2' }, 'v2', 'Pod'],
]
for (const [body, apiVersion, kind] of headers) {
  test(`reads ${JSON.stringify(body)}`, () =>
    assert.deepEqual(bodyHeader(body), { apiVersion, kind }))
}

const whole =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
const faults: [Json, string][] = [
  [[], `json: cannot unmarshal array into Go value of type ${whole}`],
  ['x', `json: cannot unmarshal string into Go value of type ${whole}`],
  [true, `json: cannot unmarshal bool into Go value of type ${whole}`],
  [
    { kind: 'Pod', Kind: 1 },
    'json: cannot unmarshal number into Go struct field .kind of type string',
  ],
  [{ kind: 1 }, 'json: cannot unmarshal number into Go struct field .kind of type string'],
  [
    { apiVersion: {} },
    'json: cannot unmarshal object into Go struct field .apiVersion of type string',
  ],
]
for (const [body, message] of faults) {
  test(`refuses ${JSON.stringify(body)}`, () => {
    assert.throws(() => bodyHeader(body), { name: 'JsonError', message })
  })
}

test('an apiVersion has a group and a version', () => {
  assert.equal(apiVersionFault('apps/v1'), undefined)
  assert.equal(apiVersionFault('a/b/c'), 'unexpected GroupVersion string: a/b/c')
})
