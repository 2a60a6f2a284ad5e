/** Ownership of fields that were written as empty lists and whose canonical form is null. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import type { Field, List, Struct, Type } from '#schema/type.ts'
import { recordUpdate } from './field-manager.ts'

const text: Type = { is: 'scalar', scalar: 'string' }
const field = (name: string, type: Type, omitEmpty: boolean): Field => ({
  name,
  type,
  inline: false,
  number: 0,
  omitEmpty,
  pointer: false,
  required: false,
})
const struct = (name: string, ...fields: Field[]): Struct => ({
  is: 'struct',
  name,
  fields,
  byName: new Map(fields.map((one) => [one.name, one])),
  atomic: false,
  open: false,
})
const atomic = (items: Type): List => ({ is: 'list', items, listType: 'atomic', mapKeys: [] })
const rule = struct('Rule', field('a', text, true), field('names', atomic(text), true))
const role = struct(
  'Role',
  field('apiVersion', text, true),
  field('metadata', struct('Meta', field('name', text, true), field('uid', text, true)), true),
  field('rules', atomic(rule), false),
)
const kind = {
  apiVersion: 'x/v1',
  typeFor: () => role,
  convert: (object: KubeObject) => object,
  resetFields: () => undefined,
}
const who = (manager: string) => ({ manager, subresource: '', now: '2020-01-02T03:04:05Z' })
const roleWith = (rules: unknown) =>
  ({ apiVersion: 'x/v1', metadata: { name: 'a' }, rules }) as unknown as KubeObject
const ownersOf = (entries: ReturnType<typeof recordUpdate>) =>
  entries.map(({ manager, fieldsV1 }) => [manager, fieldsV1])

test('the writer of a new object owns an empty list, and not an absent one', () => {
  assert.deepEqual(ownersOf(recordUpdate(kind, undefined, roleWith(null), who('one'))), [])
  const written = roleWith(null)
  rememberEmpty(written, 'rules')
  const entries = recordUpdate(kind, undefined, written, who('one'))
  assert.deepEqual(ownersOf(entries), [['one', { 'f:rules': {} }]])
})

test('the next writer that keeps the list empty owns it, with or without managedFields in the body', () => {
  const written = roleWith(null)
  rememberEmpty(written, 'rules')
  const managedFields = recordUpdate(kind, undefined, written, who('one'))
  const live = roleWith(null)
  live.metadata = { name: 'a', uid: 'u', managedFields }
  const next = roleWith(null)
  next.metadata = { name: 'a', uid: 'u', managedFields }
  rememberEmpty(next, 'rules')
  assert.deepEqual(ownersOf(recordUpdate(kind, live, next, who('two'))), [
    ['two', { 'f:rules': {} }],
  ])
})

test('an atomic list differs if an item has an empty field', () => {
  const managedFields = recordUpdate(kind, undefined, roleWith([{ a: 'x' }]), who('one'))
  const live = roleWith([{ a: 'x' }])
  live.metadata = { name: 'a', uid: 'u', managedFields }
  const item = { a: 'x' }
  rememberEmpty(item, 'names')
  const next = roleWith([item])
  assert.deepEqual(ownersOf(recordUpdate(kind, live, next, who('two'))), [
    ['two', { 'f:rules': {} }],
  ])
})
