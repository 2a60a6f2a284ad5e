/** Which releases time validation rules, and what counts as one step. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import { ObjectRules } from '#kinds/custom/rules/object-rules.ts'
import { Registry } from '#observe/metrics/registry.ts'
import { serverMetrics } from '#observe/metrics/server-metrics.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { ruleTimer } from './recorders.ts'

const prefix = 'apiserver_cel'
/** Each read of the clock is 20 ms after the one before. */
const slowClock = () => {
  let now = 0
  return () => (now += 20)
}

const schema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] },
        },
        free: { type: 'string' },
      },
      'x-kubernetes-validations': [
        { rule: 'self.list.size() > 0' },
        { rule: 'self.list.size() < 9' },
      ],
    },
  },
}

const object = { apiVersion: 'a.example.com/v1', kind: 'A', metadata: { name: 'a' } }

/** The lines of the page after an object with two elements was checked twice. */
async function linesOf(minor: number): Promise<string[]> {
  const registry = new Registry({ release: minor })
  const timed = ruleTimer(serverMetrics(registry, minor), slowClock())
  const rules = new ObjectRules(schema, { release: releaseOf(minor), ratchets: false, timed })
  const checked = { ...object, spec: { list: [1, 2], free: 'a' } }
  for (const _ of [1, 2]) assert.deepEqual(rules.check(checked, undefined, [], assert.fail), [])
  return (await registry.page()).split('\n').filter((line) => line.includes(prefix))
}

test('1.24 has no metrics of rules', async () => {
  assert.deepEqual(await linesOf(24), [])
})

for (const [minor, stability] of [
  [25, 'ALPHA'],
  [30, 'ALPHA'],
  [31, 'BETA'],
  [37, 'BETA'],
] as const)
  test(`metrics of rules in 1.${minor}`, async () => {
    const lines = await linesOf(minor)
    // The schemas with rules are those of spec and of the elements of the list.
    assert.ok(lines.includes(`${prefix}_compilation_duration_seconds_count 2`))
    assert.ok(lines.includes(`${prefix}_compilation_duration_seconds_sum 0.04`))
    // The object, its spec, its list and two elements, twice.
    assert.ok(lines.includes(`${prefix}_evaluation_duration_seconds_count 10`))
    assert.ok(lines.includes(`${prefix}_evaluation_duration_seconds_bucket{le="0.025"} 3`))
    const help = lines.find((line) => line.startsWith('# HELP'))
    assert.ok(help?.includes(`[${stability}]`))
  })

test('both metrics are on the page before the first rule', async () => {
  const registry = new Registry({ release: 37 })
  serverMetrics(registry, 37)
  const page = await registry.page()
  for (const step of ['compilation', 'evaluation'])
    assert.ok(page.includes(`${prefix}_${step}_duration_seconds_count 0\n`))
})
