/** Pods with very many scheduling rules must not delay other requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { podRules } from './pod-rules.ts'
import { contextOf } from './pods.suite.ts'
import { checkOnlyAddedTolerations, checkTopologySpread } from './scheduling.ts'

const path = FieldPath.of('spec')
const many = <Item>(make: (i: number) => Item): Item[] =>
  Array.from({ length: 20_000 }, (_, i) => make(i))
const tolerations = (first: number) =>
  many((i) => ({
    key: `k${first + i}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: first,
  }))
const spread = (keys: number) =>
  many((i) => ({
    maxSkew: 1,
    topologyKey: `k${i % keys}`,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: {},
  }))

const rules = podRules(contextOf())

const rows: [what: string, check: () => FieldError[], errors: number][] = [
  [
    'tolerations',
    () => checkOnlyAddedTolerations(tolerations(0), tolerations(0).toReversed(), path, rules),
    0,
  ],
  [
    'other tolerations',
    () => checkOnlyAddedTolerations(tolerations(1), tolerations(0), path, rules),
    1,
  ],
  ['ways to spread', () => checkTopologySpread(spread(20_000), path, rules), 0],
  ['ways to spread, each twice', () => checkTopologySpread(spread(10_000), path, rules), 10_000],
]
for (const [what, check, errors] of rows)
  test(`many ${what} cost one pass`, () => {
    const took = processorMs(() => assert.equal(check().length, errors))
    assert.ok(took < 2000, `${took} ms`)
  })
