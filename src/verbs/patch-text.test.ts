/** Validation of the text of a patch, in releases on both sides of each change. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { configurationFault, requirePatchShape, requirePatchText } from './patch-text.ts'
import type { PatchRequest } from './server.ts'

function outcome(check: () => void): string {
  try {
    check()
    return 'fine'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.message}`
  }
}

type PatchType = PatchRequest['patchType']

const texts: [release: number, patchType: PatchType, text: string, expected: RegExp][] = [
  [36, 'merge', '{', /^fine$/],
  [37, 'merge', '{', /^400 invalid JSON patch$/],
  [37, 'json', '[] []', /^400 invalid JSON patch$/],
  [37, 'strategic', 'a: 1', /^400 invalid JSON patch$/],
  [37, 'strategic', '{"a":1}', /^fine$/],
  [37, 'apply', 'a: 1', /^fine$/],
  [37, 'apply', '{', /^400 error encoding patch: yaml: /],
  [36, 'apply', '{', /^fine$/],
]
for (const [release, patchType, text, expected] of texts)
  test(`1.${release}: the ${patchType} patch ${text}`, () => {
    const request = { patchType, patchBytes: Buffer.from(text) } as PatchRequest
    assert.match(
      outcome(() => requirePatchText(request, release)),
      expected,
    )
  })

const wrong = '400 error decoding patch: json: cannot unmarshal'
const shapes: [release: number, patchType: PatchType, patch: Json, expected: string][] = [
  [22, 'merge', [], 'fine'],
  [23, 'merge', [], `${wrong} array into Go value of type map[string]interface {}`],
  [23, 'merge', null, 'fine'],
  [22, 'json', {}, 'fine'],
  [23, 'json', {}, `${wrong} object into Go value of type []handlers.jsonPatchOp`],
  [37, 'json', [1], `${wrong} number into Go value of type handlers.jsonPatchOp`],
  [37, 'json', [{ op: [] }], `${wrong} array into Go struct field jsonPatchOp.op of type string`],
  [37, 'json', [{ op: 'add', path: '/a', value: { b: 1 } }], 'fine'],
]
for (const [release, patchType, patch, expected] of shapes)
  test(`1.${release}: the ${patchType} patch ${JSON.stringify(patch)}`, () => {
    const shapeOf = (fieldValidation: string) => {
      const request = { patchType, options: { fieldValidation } } as PatchRequest
      return outcome(() => requirePatchShape(request, patch, release))
    }
    assert.equal(shapeOf('Warn'), expected)
    assert.equal(shapeOf('Ignore'), 'fine')
  })

test('the prefix of errors about a configuration', () => {
  assert.equal(configurationFault(36), 'error decoding YAML')
  assert.equal(configurationFault(37), 'error decoding patch')
})
