/** The default ServiceCIDR is created, marked as ready, and never replaced. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { startVerbs } from '#verbs/fixture.suite.ts'
import { localClient } from '#verbs/local-client.ts'
import { ensureDefaultCidr } from './default-service-cidr.ts'

const user = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }
const cidrs = { group: 'networking.k8s.io', version: 'v1', plural: 'servicecidrs' }
const blocksOf: [title: string, before: string[], given: string[], after: string, ready: string][] =
  [
    ['missing', [], ['10.0.0.0/24'], '10.0.0.0/24', 'True'],
    ['the same', ['10.0.0.0/24'], ['10.0.0.0/24'], '10.0.0.0/24', 'True'],
    ['another', ['10.1.0.0/24'], ['10.0.0.0/24'], '10.1.0.0/24', 'unset'],
    [
      'of one family',
      ['10.0.0.0/24'],
      ['10.0.0.0/24', 'fd00::/112'],
      '10.0.0.0/24,fd00::/112',
      'unset',
    ],
  ]
for (const [title, before, given, after, ready] of blocksOf) {
  test(`the default ServiceCIDR where there is ${title}`, async () => {
    const verbs = await startVerbs(createMemoryStorage(), 100, 37)
    const client = localClient(verbs.server, user, 'kube-apiserver')
    const name = 'kubernetes'
    if (before.length > 0)
      await client.create(cidrs, '', { metadata: { name }, spec: { cidrs: before } })
    const defaultCidr = { resource: cidrs, blocks: given, nowMs: () => 1_700_000_000_000 }
    await ensureDefaultCidr(client, defaultCidr)
    const { spec, status } = await client.get(cidrs, '', name)
    assert.equal(spec?.cidrs.join(), after)
    const [condition] = status?.conditions ?? []
    assert.equal(condition?.status ?? 'unset', ready)
    if (condition) assert.equal(condition.lastTransitionTime, '2023-11-14T22:13:20Z')
    await verbs.stop()
  })
}
