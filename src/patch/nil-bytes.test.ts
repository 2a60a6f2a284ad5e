import assert from 'node:assert/strict'
import test from 'node:test'
import type { Type } from '#schema/type.ts'
import { withNilBytes } from './nil-bytes.ts'

const bytes: Type = { is: 'scalar', scalar: 'bytes' }
const text: Type = { is: 'scalar', scalar: 'string' }
const byteMap: Type = { is: 'map', values: bytes, atomic: false }
const textMap: Type = { is: 'map', values: text, atomic: false }
const field = (name: string, type: Type) => ({
  name,
  type,
  inline: false,
  number: 0,
  omitEmpty: true,
  pointer: false,
  required: false,
})
const fields = [field('data', byteMap), field('labels', textMap)]
const secret: Type = {
  is: 'struct',
  name: 'Secret',
  fields,
  byName: new Map(fields.map((one) => [one.name, one])),
  atomic: false,
  open: false,
}

test('empty byte arrays become null, empty strings stay', () => {
  const given = { data: { a: '', b: 'eA==' }, labels: { c: '' } }
  const nil = { data: { a: null, b: 'eA==' }, labels: { c: '' } }
  assert.deepEqual(withNilBytes(secret, given), nil)
  assert.deepEqual(given.data.a, '')
})

test('a value whose type has no byte arrays is returned unchanged', () => {
  const given = { c: '' }
  assert.equal(withNilBytes(textMap, given), given)
})
