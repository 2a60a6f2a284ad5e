import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { field, listOf, mapOf, scalar, structOf } from './make-type.ts'
import type { Type } from './type.ts'
import { undeclared } from './undeclared.ts'

const inner = structOf('Inner', [field('n', scalar('int64'), 1, 'o')])
const type: Type = structOf('Thing', [
  field('list', listOf(inner), 1, 'o'),
  field('one', inner, 2, 'o'),
  field('text', scalar('string'), 3, 'o'),
  field('any', scalar('any'), 4, 'o'),
  field('free', { is: 'untyped' }, 5, 'o'),
  field('open', { is: 'map', values: { is: 'untyped' }, atomic: false, memberless: true }, 6, 'o'),
  field('numbers', mapOf({ is: 'untyped' }), 8, 'o'),
  field('texts', mapOf(scalar('string')), 7, 'o'),
])

const rows: readonly [title: string, value: Json, kept: Json, paths: string[]][] = [
  ['members of items', { list: [{ n: 1, m: 2 }] }, { list: [{ n: 1 }] }, ['list[0].m']],
  ['members of an object in place of a list', { list: { n: 1 } }, { list: {} }, ['list.n']],
  ['members of an object in place of a text', { text: { n: 1 } }, { text: {} }, ['text.n']],
  ['items in place of an object', { one: [{ m: 1 }] }, { one: [{}] }, ['one[0].m']],
  [
    'members without a type are removed',
    { free: { n: 1, m: null } },
    { free: {} },
    ['free.m', 'free.n'],
  ],
  ['items without a type', { free: [{ n: 1 }] }, { free: [{ n: 1 }] }, []],
  [
    'members of an object that declares none',
    { open: { a: 1, b: null, c: { d: 1 } } },
    { open: { b: null } },
    ['open.a', 'open.c'],
  ],
  ['entries of a map with a type of values', { texts: { a: null } }, { texts: {} }, []],
  ['entries of a map of any values', { numbers: { a: null } }, { numbers: {} }, []],
  ['members that are kept', { any: { n: 1 } }, { any: { n: 1 } }, []],
]
test('members of one type can come last', () => {
  const value = { list: [{ m: 1 }], one: { m: 1 }, other: 1 }
  assert.deepEqual(undeclared(type, value, {}), ['list[0].m', 'one.m', 'other'])
  assert.deepEqual(undeclared(type, value, {}, inner), ['other', 'list[0].m', 'one.m'])
})

for (const [title, value, kept, paths] of rows)
  test(title, () => assert.deepEqual(undeclared(type, value, kept), paths))
