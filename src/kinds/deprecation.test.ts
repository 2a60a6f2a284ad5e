import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deprecationOf } from './deprecation.ts'
import type { ResourceFact } from './facts.ts'

const cronJob = { group: 'batch', version: 'v1', kind: 'CronJob' }
const factOf = (group: string, version: string, kind: string, lifecycle?: object) =>
  ({ group, version, kind, lifecycle }) as unknown as ResourceFact

const beta = factOf('batch', 'v1beta1', 'CronJob', {
  deprecated: '1.21',
  removed: '1.25',
  replacement: cronJob,
})
const early = factOf('extensions', 'v1beta1', 'Ingress', { deprecated: '1.14', removed: '1.22' })
const lasting = factOf('', 'v1', 'ComponentStatus', { deprecated: '1.19', removed: '' })
const cases: [fact: ResourceFact, release: number, warning?: string, removed?: string][] = [
  [factOf('', 'v1', 'Pod'), 22],
  [beta, 20],
  [
    beta,
    21,
    'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob',
    '1.25',
  ],
  [early, 18],
  [early, 19, 'extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+', '1.22'],
  [lasting, 22, 'v1 ComponentStatus is deprecated in v1.19+', ''],
]
for (const [fact, release, warning, removedRelease] of cases) {
  test(`${fact.kind} of ${fact.version} in 1.${release}`, () => {
    const expected = warning === undefined ? undefined : { warning, removedRelease }
    assert.deepEqual(deprecationOf(fact, release), expected)
  })
}
