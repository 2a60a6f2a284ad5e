/** Which metrics of service account tokens each release has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from './registry.ts'
import { tokenMetrics } from './token-metrics.ts'

const ofAll = ['legacy_tokens', 'stale_tokens', 'valid_tokens']
const bySecret = [
  'invalid_legacy_auto_token_uses',
  'legacy_auto_token_uses',
  'legacy_manual_token_uses',
]
const rows: [minor: number, names: string[], stability: string][] = [
  [18, [], 'ALPHA'],
  [19, ofAll, 'ALPHA'],
  [28, ofAll, 'ALPHA'],
  [29, [...bySecret, ...ofAll], 'ALPHA'],
  [36, [...bySecret, ...ofAll], 'ALPHA'],
  [37, [...bySecret, ...ofAll], 'BETA'],
]
for (const [minor, names, stability] of rows)
  test(`1.${minor} has ${names.length} metrics of tokens, those of all tokens ${stability}`, async () => {
    const registry = new Registry({ release: minor })
    const metrics = Object.values(tokenMetrics(registry))
    for (const [at, metric] of metrics.entries()) metric.add(at + 1)
    const page = await registry.page()
    const values = [...page.matchAll(/^serviceaccount_(\w+)_total (\d)$/gm)]
    assert.deepEqual(values.map(([, name]) => name).sort(), names)
    assert.equal(new Set(values.map(([, , value]) => value)).size, names.length)
    const stabilities = [...page.matchAll(/^# HELP serviceaccount_(\w+)_total \[(\w+)\]/gm)]
    for (const [, name = '', found] of stabilities)
      assert.equal(found, ofAll.includes(name) ? stability : 'ALPHA', name)
  })
