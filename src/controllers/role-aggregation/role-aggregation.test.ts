import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { until } from '#base/until.fixture.ts'
import type { Informer, Listener } from '#client/informer.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import type { KeptRole } from '#controllers/kept.ts'
import { clusterRoles } from '#controllers/resources.ts'
import { roleAggregation } from './role-aggregation.ts'

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })

test('a role holds the rules of all roles it picks, each once, in the order of their names', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(roleAggregation)
    const make = (name: string, more: object) =>
      client.create(clusterRoles, '', { metadata: { name, ...more } })
    await client.create(clusterRoles, '', {
      metadata: { name: 'all' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'all' } }] },
      rules: [],
    })
    const labels = { to: 'all' }
    await client.create(clusterRoles, '', {
      metadata: { name: 'b', labels },
      rules: [rule('pods'), rule('nodes')],
    })
    await client.create(clusterRoles, '', {
      metadata: { name: 'a', labels },
      rules: [rule('pods')],
    })
    await client.create(clusterRoles, '', { metadata: { name: 'c' }, rules: [rule('secrets')] })
    await make('d', {})
    const resources = async () =>
      ((await client.get(clusterRoles, '', 'all')).rules ?? [])
        .map((one: { resources: string[] }) => one.resources[0])
        .join(' ')
    await until('both rules', async () => (await resources()) === 'pods nodes')
    const { managedFields = [] } = (await client.get(clusterRoles, '', 'all')).metadata
    assert.deepEqual(
      managedFields.map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1]).at(0),
      ['clusterrole-aggregation-controller', 'Apply', { 'f:rules': {} }],
    )
    await client.delete(clusterRoles, '', 'b')
    await until('one rule', async () => (await resources()) === 'pods')
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

/** `Apply` or `Update`: how the controller writes the rules. */
async function writesRules(release: number): Promise<string | undefined> {
  const cluster = await startCluster({ release })
  try {
    const { client } = cluster
    cluster.run(roleAggregation)
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { to: 'all' } }] }
    const all = { metadata: { name: 'all' }, aggregationRule, rules: [] }
    await client.create(clusterRoles, '', all)
    const one = { metadata: { name: 'one', labels: { to: 'all' } }, rules: [rule('pods')] }
    await client.create(clusterRoles, '', one)
    const live = () => client.get(clusterRoles, '', 'all')
    await until('the rule', async () => (await live()).rules?.length === 1)
    const { managedFields = [] } = (await live()).metadata
    return managedFields.find(({ fieldsV1 }) => 'f:rules' in (fieldsV1 ?? {}))?.operation
  } finally {
    await cluster.stop()
  }
}
checkBoundaries<string, string | undefined>(writesRules, [
  ['how the rules are written', [20, 21], '', 'Update', 'Apply'],
])

test('of many roles those that aggregate none cost nothing when another changes', () => {
  let told: Listener<KeptRole> | undefined
  const listened: Partial<Informer<KeptRole>> = {
    listen: (listener) => void (told = listener),
    values: () => assert.fail('all roles are gone through'),
  }
  const stopping = new AbortController()
  roleAggregation.start({
    informers: { clusterRoles: () => listened },
    signal: stopping.signal,
    release: 22,
    feature: () => true,
  } as unknown as ControllerParts)
  const role = { name: 'a', labels: {}, selectors: undefined } as unknown as KeptRole
  told?.changed?.(role, undefined)
  told?.deleted?.(role)
  stopping.abort()
})
