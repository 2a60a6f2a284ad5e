import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceFact } from './facts.ts'
import { runtimeConfig } from './runtime-config.ts'

const fact = (group: string, version: string, plural: string, off = false) =>
  ({ group, version, plural, off }) as ResourceFact
const cronV1 = fact('batch', 'v1', 'cronjobs')
const cronBeta = fact('batch', 'v1beta1', 'cronjobs')
const alpha = fact('node.k8s.io', 'v1alpha1', 'runtimeclasses', true)
const pods = fact('', 'v1', 'pods')
const all = [cronV1, cronBeta, alpha, pods]
const unserved = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1alpha1' }
const versions = [...all.map(({ group, version }) => ({ group, version })), unserved]

const cases: [Record<string, string>, ResourceFact, boolean | RegExp][] = [
  [{}, cronV1, true],
  [{}, alpha, false],
  [{ 'api/all': 'true' }, alpha, true],
  [{ 'api/alpha': '' }, alpha, true],
  [{ 'api/beta': 'false' }, cronBeta, false],
  [{ 'api/beta': 'false', 'batch/v1beta1': 'true' }, cronBeta, true],
  [{ 'batch/v1beta1/cronjobs': 'false' }, cronBeta, false],
  [{ 'batch/v1beta1/cronjobs': 'false' }, cronV1, true],
  [{ 'node.k8s.io/v1alpha1': 'true' }, alpha, true],
  [{ 'api/v1': 'false' }, pods, false],
  [{ 'flowcontrol.apiserver.k8s.io/v1alpha1': 'true' }, pods, true],
  [{ 'batch/v9': 'true' }, pods, /group version batch\/v9 that has not been registered$/],
  [{ 'batch/v9/jobs': 'true' }, pods, /group version batch\/v9 that has not been registered$/],
  [{ 'batch/v1/nothing': 'true' }, pods, /unknown api groups batch\/v1\/nothing/],
  [{ 'nope/v1': 'true' }, pods, /unknown api groups nope\/v1/],
  [{ 'api/all': 'false' }, pods, /invalid key with only api\/all=false$/],
  [{ 'batch/v1': 'perhaps' }, pods, /neither true nor false/],
]
for (const [given, asked, expected] of cases) {
  test(`${JSON.stringify(given)} ${asked.group}/${asked.version}/${asked.plural}`, () => {
    const serves = runtimeConfig(new Map(Object.entries(given)), versions, all)
    if (expected instanceof RegExp) assert.match((serves as { error: string }).error, expected)
    else assert.equal((serves as (f: ResourceFact) => boolean)(asked), expected)
  })
}
