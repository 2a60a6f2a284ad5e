import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { podTolerationRestriction } from './pod-toleration-restriction.ts'
import { outcome, pod, podKind, requestOf } from './requests.suite.ts'

const prefix = 'scheduler.alpha.kubernetes.io/'
const plugin = podTolerationRestriction(undefined)

async function answer(annotations: Loose, spec: Loose, operation: 'CREATE' | 'UPDATE' = 'CREATE') {
  const reader = new MemoryReader()
  reader.put('', 'namespaces', { metadata: { name: 'ns', annotations } })
  const request = requestOf(operation, podKind, pod(spec), { old: pod(spec) })
  const stated = await outcome(plugin, request, reader)
  return stated === 'admitted' ? request.object?.spec.tolerations : stated
}

const a = { key: 'a', operator: 'Exists' }
const pressure = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
}
const conflict =
  '500 pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist'

const byDefault: [text: string, tolerations: Loose[] | undefined, expected: unknown][] = [
  ['[{"key":"a","operator":"Exists"}]', undefined, [a]],
  [
    '[{"key":"a","operator":"Exists"}]',
    [{ key: 'z', operator: 'Exists' }],
    [{ key: 'z', operator: 'Exists' }, a],
  ],
  ['[{"key":"a","operator":"Exists"}]', [{ ...a, effect: 'NoSchedule' }], [a]],
  ['[{"KEY":"a","Operator":"Exists","other":1}]', undefined, [a]],
  ['[{"Key":"b","key":"a","operator":"Exists"}]', undefined, [a]],
  [
    '[{"KEY":1}]',
    undefined,
    '500 json: cannot unmarshal number into Go struct field Toleration.key of type string',
  ],
  ['', [a], [a]],
  ['[]', [a], [a]],
  ['null', [a], [a]],
  ['nonsense', undefined, "500 invalid character 'o' in literal null (expecting 'u')"],
  ['[] x', undefined, "500 invalid character 'x' after top-level value"],
  ['{', undefined, '500 unexpected end of JSON input'],
  ['{}', undefined, '500 json: cannot unmarshal object into Go value of type []v1.Toleration'],
  ['"x"', undefined, '500 json: cannot unmarshal string into Go value of type []v1.Toleration'],
  ['[1]', undefined, '500 json: cannot unmarshal number into Go value of type v1.Toleration'],
  ['[[]]', undefined, '500 json: cannot unmarshal array into Go value of type v1.Toleration'],
  [
    '[{"key":1}]',
    undefined,
    '500 json: cannot unmarshal number into Go struct field Toleration.key of type string',
  ],
  [
    '[{"tolerationSeconds":1.5}]',
    undefined,
    '500 json: cannot unmarshal number 1.5 into Go struct field Toleration.tolerationSeconds of type int64',
  ],
]
for (const [text, tolerations, expected] of byDefault)
  test(`the default ${text} beside ${JSON.stringify(tolerations)}`, async () =>
    assert.deepEqual(
      await answer({ [`${prefix}defaultTolerations`]: text }, { tolerations }),
      expected,
    ))

const allowed = JSON.stringify([
  a,
  { operator: 'Exists', effect: 'NoExecute' },
  { key: 'b', operator: 'Equal', value: '1', effect: 'NoSchedule' },
  { key: 's', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 },
])
const within: [toleration: Loose, allowed: boolean][] = [
  [a, true],
  [{ ...a, effect: 'NoExecute', tolerationSeconds: 5 }, true],
  [{ key: 'a', operator: 'Equal', value: 'x' }, true],
  [{ key: 'b', operator: 'Equal', value: '1', effect: 'NoSchedule' }, true],
  [{ key: 'b', operator: 'Equal', value: '2', effect: 'NoSchedule' }, false],
  [{ key: 'b', operator: 'Exists' }, false],
  [{ key: 'b', value: '1', effect: 'NoSchedule' }, false],
  [{ key: 'c', operator: 'Exists', effect: 'NoExecute' }, true],
  [{ key: 'c', operator: 'Exists', effect: 'NoSchedule' }, false],
  [{ operator: 'Exists' }, false],
]
for (const [toleration, good] of within)
  test(`${JSON.stringify(toleration)} is ${good ? '' : 'not '}allowed`, async () => {
    const annotations = { [`${prefix}tolerationsWhitelist`]: allowed }
    const expected = good ? [toleration] : conflict
    assert.deepEqual(await answer(annotations, { tolerations: [toleration] }), expected)
  })

test('the duration may be limited', async () => {
  const one = { key: 's', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 }
  const annotations = { [`${prefix}tolerationsWhitelist`]: JSON.stringify([one]) }
  const check = (toleration: Loose) => answer(annotations, { tolerations: [toleration] })
  assert.deepEqual(await check(one), [one])
  assert.equal(await check({ ...one, tolerationSeconds: 11 }), conflict)
  assert.equal(await check({ ...one, tolerationSeconds: undefined }), conflict)
})

test('an unreadable list allows nothing', async () => {
  const annotations = { [`${prefix}tolerationsWhitelist`]: '{' }
  assert.equal(await answer(annotations, { tolerations: [a] }), '500 unexpected end of JSON input')
  assert.equal(await answer(annotations, {}), undefined, 'nor is it read for a pod without any')
})

test('pods with requests tolerate memory pressure, and updates get no defaults', async () => {
  const containers = [{ name: 'c', resources: { requests: { cpu: '1' } } }]
  const annotations = { [`${prefix}defaultTolerations`]: JSON.stringify([a]) }
  assert.deepEqual(await answer(annotations, { containers }), [a, pressure])
  assert.deepEqual(await answer(annotations, { containers }, 'UPDATE'), [pressure])
})
