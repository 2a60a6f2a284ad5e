import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import { rememberText } from '#api/written-text.ts'
import { loadFacts } from '#kinds/facts.ts'
import type { Type } from '#schema/type.ts'
import {
  checkImmutable,
  checkNoBacksteps,
  isAmount,
  isAsBefore,
  isLabelSelector,
  listAsWritten,
  sameJson,
  samePart,
} from './checks.ts'

const path = FieldPath.of('x')

const same: [unknown, unknown, boolean][] = [
  [{ a: 1, b: [1] }, { b: [1], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined, c: null, d: [] }, true],
  [{ a: {} }, {}, false],
  [[1, 2], [2, 1], false],
  [{ a: '' }, {}, false],
  [10n, 10n, true],
]
for (const [a, b, expected] of same) {
  test(`sameJson ${String(JSON.stringify(a, (_, v) => (typeof v === 'bigint' ? `${v}` : v)))}`, () => {
    assert.equal(sameJson(a, b), expected)
    assert.equal(sameJson(b, a), expected)
  })
}

const inside = (amount: string) => ({ spec: { resources: { limits: { cpu: amount } } } })
const parts: [unknown, unknown, boolean][] = [
  [inside('1Gi'), inside('1073741824'), true],
  [inside('1'), inside('2'), false],
  [[inside('1')], [inside('1000m')], true],
  [{ emptyDir: { sizeLimit: '1k' } }, { emptyDir: { sizeLimit: '1000' } }, true],
  [{ emptyDir: { medium: '1k' } }, { emptyDir: { medium: '1000' } }, false],
  [{ nodeSelector: { cpu: '1k' } }, { nodeSelector: { cpu: '1000' } }, false],
  [{ nodeSelector: { limits: 'x' } }, { nodeSelector: { limits: 'y' } }, false],
]
for (const [a, b, expected] of parts) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} in a kind`, () => {
    assert.equal(samePart(a, b), expected)
    assert.equal(samePart(b, a), expected)
  })
}

test('outside quantity fields, quantities are compared as text', () => {
  assert.equal(sameJson(inside('1'), inside('1000m')), false)
})

test('all quantity fields of compared values are known', () => {
  const folder = join(import.meta.dirname, '../../../facts')
  const facts = loadFacts((name) => readFileSync(join(folder, name), 'utf8'))
  const found: string[] = []
  const walk = (type: Type, path: readonly string[], above: readonly Type[]): void => {
    if (above.includes(type)) return
    if (type.is === 'scalar' && type.scalar === 'quantity') found.push(path.slice(-2).join('.'))
    if (type.is === 'list') walk(type.items, [...path, '#'], above)
    if (type.is === 'map') walk(type.values, [...path, '*'], above)
    if (type.is !== 'struct') return
    for (const { name, type: of } of type.byName.values())
      walk(of, [...path, name], [...above, type])
  }
  for (const part of ['PodSpec', 'PersistentVolumeClaimSpec', 'PersistentVolumeSpec'])
    walk(facts.typeOf(`io.k8s.api.core.v1.${part}`, Math.max(...facts.releases)), [], [])
  const known = (pair: string) => isAmount(...(pair.split('.') as [string, string]))
  assert.deepEqual(
    found.filter((pair) => !known(pair)),
    [],
  )
  assert.ok(found.length > 10)
})

test('a time with a fraction of a second differs from the stored one', () => {
  const stored = { metadata: { creationTimestamp: '2020-01-02T03:04:05Z' } }
  const next = structuredClone(stored)
  rememberText(next.metadata, 'creationTimestamp', '2020-01-02T03:04:05.5Z')
  assert.equal(samePart(next, stored), false)
  assert.equal(samePart(structuredClone(stored), stored), true)
})

test('an empty field that got a value later is unchanged', () => {
  const next = { data: { a: 'x' } }
  rememberEmpty(next, 'data')
  assert.ok(isAsBefore(next, { data: { a: 'x' } }, 'data'))
  const empty = {}
  rememberEmpty(empty, 'data')
  assert.ok(!isAsBefore(empty, {}, 'data'))
})

test('a key called __proto__ is compared like any other', () => {
  const odd = JSON.parse('{"__proto__":1}')
  assert.equal(sameJson(odd, {}), false)
  assert.equal(sameJson(odd, JSON.parse('{"__proto__":1}')), true)
})

test('an immutable field treats absent and empty text alike', () => {
  assert.deepEqual(checkImmutable('', undefined, path), [])
  assert.equal(checkImmutable('b', 'a', path)[0]?.message, 'Invalid value: "b": field is immutable')
})

test('a path must not contain ..', () => {
  assert.deepEqual(checkNoBacksteps('/a/..b/c', path), [])
  assert.equal(checkNoBacksteps('/a/../c', path).length, 1)
})

test('a selector with an unknown operator has no value', () => {
  assert.ok(isLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }))
  assert.ok(!isLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Like' }] }))
})

test('an empty list differs from an absent one', () => {
  const holder = {}
  assert.equal(listAsWritten(holder, 'a'), undefined)
  rememberEmpty(holder, 'a')
  assert.deepEqual(listAsWritten(holder, 'a'), [])
})
