import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, Loose } from '#api/object-meta.ts'
import { compileDefaults } from './apply-defaults.ts'
import { field, listOf, mapOf, scalar, structOf } from './make-type.ts'
import type { Struct } from './type.ts'

const string = scalar('string')
const handler = structOf('Handler', [field('port', string, 1, 'o')])
const probe = structOf('Probe', [
  field('', handler, 1, 'i'),
  field('period', scalar('int32'), 2, 'o'),
])
const container = structOf('Container', [field('name', string, 1), field('probe', probe, 2, 'op')])
const spec = structOf('Spec', [
  field('containers', listOf(container), 1),
  field('byName', mapOf(container), 2, 'o'),
  field('strategy', structOf('Strategy', [field('type', string, 1, 'o')]), 3, 'o'),
])
const unrelated = structOf('Unrelated', [field('x', string, 1)])
const thing = structOf('Thing', [field('other', unrelated, 1), field('spec', spec, 2, 'o')])
const node: Struct = structOf('Node', [
  field('children', () => listOf(node), 1, 'o'),
  field('probe', probe, 2, 'op'),
])

const absent = (name: string, value: unknown) => (object: Loose) => {
  if (object[name] === undefined) object[name] = value
}

test('parents are visited before children, in lists and maps, including what the parent added', () => {
  const seen: string[] = []
  const apply = compileDefaults(
    thing,
    {
      Spec: (value) => {
        seen.push('Spec')
        absent('containers', [{ name: 'added', probe: {} }])(value)
      },
      Container: (value) => seen.push(`Container ${value['name']}`),
      Probe: (value, period: number) => absent('period', period)(value),
      Handler: absent('port', 'http'),
      Strategy: absent('type', 'RollingUpdate'),
    },
    10,
  )
  const object = { spec: { byName: { a: { name: 'a' }, __proto__: null } } }
  apply(object)
  assert.deepEqual(seen, ['Spec', 'Container added', 'Container a'])
  assert.deepEqual(object.spec, {
    byName: { a: { name: 'a' }, __proto__: null },
    containers: [{ name: 'added', probe: { period: 10, port: 'http' } }],
    strategy: { type: 'RollingUpdate' },
  })
})

test('recursive types end with the object', () => {
  const apply = compileDefaults(node, { Probe: absent('period', 1) }, undefined)
  const object = { children: [{ probe: {} }, { children: [{ probe: { period: 5 } }] }] }
  apply(object)
  assert.deepEqual(object, {
    children: [{ probe: { period: 1 } }, { children: [{ probe: { period: 5 } }] }],
  })
})

test('a kind without defaults is not visited', () => {
  for (const type of [node, thing, unrelated]) {
    const object = { spec: { containers: null }, children: [{}] }
    compileDefaults(type, { Absent: () => assert.fail() }, undefined)(object)
    assert.deepEqual(object, { spec: { containers: null }, children: [{}] })
  }
})

test('fields have the defaults that they declare', () => {
  const declaring = (name: string, flags: string, value: Json) => ({
    ...field(name, scalar('string'), 1, flags),
    default: value,
  })
  const struct = structOf('Declaring', [
    declaring('pointer', 'op', ''),
    declaring('text', 'o', 'a'),
    declaring('object', 'op', { single: {} }),
    declaring('zero', 'o', ''),
    declaring('constant', 'op', 'ref(Constant)'),
  ])
  const holder = structOf('Holder', [field('inner', struct, 1, 'o')])
  const apply = compileDefaults(holder, { Declaring: absent('text', 'b') }, undefined)
  const rows: [Loose, Loose][] = [
    [{}, { inner: { pointer: '', text: 'b', object: { single: {} } } }],
    [
      { inner: { pointer: 'x', text: '' } },
      { inner: { pointer: 'x', text: 'a', object: { single: {} } } },
    ],
  ]
  for (const [given, expected] of rows) {
    apply(given)
    assert.deepEqual(given, expected)
  }
})
