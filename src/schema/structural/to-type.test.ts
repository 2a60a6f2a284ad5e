import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import { scalar } from '#schema/make-type.ts'
import type { Type } from '#schema/type.ts'
import type { JsonSchema } from './json-schema.ts'
import { typeOfSchema } from './to-type.ts'

/** The type of the values in a map of the schema. */
function valuesOf(schema: JsonSchema, minor: number): string {
  const object: JsonSchema = { type: 'object', properties: { a: schema } }
  let type: Type | undefined = typeOfSchema(object, scalar('any'), false, releaseOf(minor))
  if (type.is === 'struct') type = type.byName.get('a')?.type
  const inside = type?.is === 'map' ? type.values : type
  return inside?.is === 'scalar' ? inside.scalar : (inside?.is ?? '')
}

const free: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const keepingMap: JsonSchema = {
  ...free,
  additionalProperties: { type: 'object', properties: { b: { type: 'string' } } },
}

test('values without a declared shape are owned key by key since 1.23', () => {
  assert.deepEqual([valuesOf(free, 22), valuesOf(free, 23)], ['any', 'untyped'])
  assert.deepEqual([valuesOf({}, 22), valuesOf({}, 23)], ['any', 'untyped'])
})

test('maps inherit preserved unknown fields since 1.27', () => {
  const isOpen = (minor: number): boolean => {
    const object: JsonSchema = { type: 'object', properties: { a: keepingMap } }
    const type = typeOfSchema(object, scalar('any'), false, releaseOf(minor)).byName.get('a')?.type
    return type?.is === 'map' && type.values.is === 'struct' && type.values.open
  }
  assert.deepEqual([isOpen(26), isOpen(27)], [false, true])
})
