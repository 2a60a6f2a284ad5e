import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  difference,
  equalSets,
  type FieldSet,
  hasPath,
  intersection,
  isSubset,
  makeFieldSet,
  parseFieldSet,
  recursiveDifference,
  union,
} from './field-set.ts'

const set = (text: string): FieldSet => parseFieldSet(JSON.parse(text))

type Operation = (a: FieldSet, b: FieldSet) => FieldSet
const operations: [string, Operation, string, string, string][] = [
  // what          operation            a                                   b
  // result
  ['disjoint', union, '{"f:b":{}}', '{"f:a":{}}', '{"f:a":{},"f:b":{}}'],
  ['self and below', union, '{"f:a":{}}', '{"f:a":{"f:b":{}}}', '{"f:a":{".":{},"f:b":{}}}'],
  ['nothing', union, '{}', '{"f:a":{}}', '{"f:a":{}}'],
  [
    'kinds of steps',
    union,
    '{"v:\\"a\\"":{},"i:1":{}}',
    '{"f:z":{},"k:{\\"n\\":1}":{}}',
    '{"f:z":{},"k:{\\"n\\":1}":{},"v:\\"a\\"":{},"i:1":{}}',
  ],
  ['shared', intersection, '{"f:a":{},"f:b":{}}', '{"f:b":{},"f:c":{}}', '{"f:b":{}}'],
  ['parent is not child', intersection, '{"f:a":{}}', '{"f:a":{"f:b":{}}}', '{}'],
  [
    'deep',
    intersection,
    '{"f:a":{".":{},"f:b":{},"f:c":{}}}',
    '{"f:a":{"f:b":{}}}',
    '{"f:a":{"f:b":{}}}',
  ],
  ['parent minus child', difference, '{"f:a":{}}', '{"f:a":{"f:b":{}}}', '{"f:a":{}}'],
  ['child minus parent', difference, '{"f:a":{"f:b":{}}}', '{"f:a":{}}', '{"f:a":{"f:b":{}}}'],
  [
    'only the parent is removed',
    difference,
    '{"f:a":{".":{},"f:b":{}}}',
    '{"f:a":{}}',
    '{"f:a":{"f:b":{}}}',
  ],
  [
    'only the child is removed',
    difference,
    '{"f:a":{".":{},"f:b":{}}}',
    '{"f:a":{"f:b":{}}}',
    '{"f:a":{}}',
  ],
  ['all is removed', difference, '{"f:a":{"f:b":{}}}', '{"f:a":{"f:b":{}}}', '{}'],
  [
    'the whole subtree is removed',
    recursiveDifference,
    '{"f:a":{".":{},"f:b":{}},"f:c":{}}',
    '{"f:a":{}}',
    '{"f:c":{}}',
  ],
  [
    'part of a subtree',
    recursiveDifference,
    '{"f:a":{".":{},"f:b":{"f:x":{}},"f:c":{}}}',
    '{"f:a":{"f:b":{}}}',
    '{"f:a":{".":{},"f:c":{}}}',
  ],
]
for (const [what, operation, a, b, result] of operations) {
  test(`${operation.name}: ${what}`, () => {
    assert.equal(JSON.stringify(operation(set(a), set(b))), result)
  })
}

const parsed: [string, string, string][] = [
  // what                     written                                          read
  ['order is restored', '{"f:b":{},"f:a":{}}', '{"f:a":{},"f:b":{}}'],
  ['keys are sorted', '{"k:{\\"b\\":1, \\"a\\":2}":{}}', '{"k:{\\"a\\":2,\\"b\\":1}":{}}'],
  [
    'numbers by size',
    '{"k:{\\"p\\":100}":{},"k:{\\"p\\":20}":{}}',
    '{"k:{\\"p\\":20}":{},"k:{\\"p\\":100}":{}}',
  ],
  ['a lone dot is a leaf', '{"f:a":{".":{}}}', '{"f:a":{}}'],
  ['null is a leaf', '{"f:a":null}', '{"f:a":{}}'],
  ['unknown steps are dropped', '{"x:a":{"f:b":{}},"f:c":{}}', '{"f:c":{}}'],
  ['the dot comes first', '{"f:a":{"f:b":{},".":{}}}', '{"f:a":{".":{},"f:b":{}}}'],
  ['the root is not a path', '{".":{},"f:a":{}}', '{"f:a":{}}'],
  ['HTML is escaped in keys', '{"k:{\\"n\\":\\"<\\"}":{}}', '{"k:{\\"n\\":\\"\\\\u003c\\"}":{}}'],
  [
    'bytes, not code units',
    '{"f:\\ud83d\\ude00":{},"f:\\uff5e":{}}',
    '{"f:\uff5e":{},"f:\ud83d\ude00":{}}',
  ],
]
for (const [what, written, read] of parsed) {
  test(`parse: ${what}`, () => assert.equal(JSON.stringify(set(written)), read))
}

for (const bad of [
  '{"a":{}}',
  '{"abc":{}}',
  '{"i:x":{}}',
  '{"k:[]":{}}',
  '{"f:a":1}',
  '[]',
  '{"v:{":{}}',
]) {
  test(`parse refuses ${bad}`, () => assert.throws(() => set(bad)))
}

test('paths of field names', () => {
  const fields = makeFieldSet([['status'], ['metadata', 'labels'], ['metadata', 'name']])
  assert.equal(JSON.stringify(fields), '{"f:metadata":{"f:labels":{},"f:name":{}},"f:status":{}}')
  assert.equal(hasPath(fields, ['f:metadata', 'f:labels']), true)
  assert.equal(hasPath(fields, ['f:metadata']), false)
  assert.equal(hasPath(fields, []), false)
})

test('subset and equality', () => {
  assert.equal(isSubset(set('{"f:a":{"f:b":{}}}'), set('{"f:a":{".":{},"f:b":{}}}')), true)
  assert.equal(isSubset(set('{"f:a":{".":{},"f:b":{}}}'), set('{"f:a":{"f:b":{}}}')), false)
  assert.equal(equalSets(set('{"f:a":{"f:b":{}}}'), set('{"f:a":{"f:b":{}}}')), true)
  assert.equal(equalSets(set('{"f:a":{}}'), set('{"f:a":{"f:b":{}}}')), false)
})
