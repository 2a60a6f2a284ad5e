import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListQuery } from '#api/list-options.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { serviceUnavailable } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from '#client/client.ts'
import { core, startCluster } from '#controllers/cluster.suite.ts'
import { deployments, disruptionBudgets, replicaSets } from '#controllers/resources.ts'
import { scaledValue } from '#controllers/workloads/scaled-value.ts'
import { countOf, failed, judge } from './budget-status.ts'
import { disruptionController } from './disruption.ts'

const shares: [value: number | string, of: number, expected: number][] = [
  [3, 10, 3],
  ['30%', 10, 3],
  ['25%', 10, 3],
  ['0%', 10, 0],
  ['100%', 7, 7],
]
for (const [value, of, expected] of shares) {
  test(`${value} of ${of} is ${expected}`, () => assert.equal(scaledValue(value, of), expected))
}

const counts: [spec: Loose, pods: number, scale: number, expected: number, desired: number][] = [
  [{ minAvailable: 2 }, 3, 0, 3, 2],
  [{ minAvailable: '50%' }, 3, 5, 5, 3],
  [{ maxUnavailable: 1 }, 3, 5, 5, 4],
  [{ maxUnavailable: '50%' }, 3, 5, 5, 2],
  [{ maxUnavailable: 9 }, 3, 5, 5, 0],
  [{}, 3, 0, 0, 0],
]
for (const [spec, pods, scale, expected, desiredHealthy] of counts) {
  test(`${JSON.stringify(spec)} of ${pods} pods with scale ${scale}`, () => {
    assert.deepEqual(countOf(spec, pods, scale), { expected, desiredHealthy })
  })
}

const now = Date.parse('2030-01-01T00:00:00Z')
const pod = (name: string, more: { ready?: boolean; deleting?: boolean } = {}): KubeObject => ({
  metadata: { name, ...(more.deleting && { deletionTimestamp: '2030-01-01T00:00:00Z' }) },
  status: { conditions: [{ type: 'Ready', status: more.ready === false ? 'False' : 'True' }] },
})
const judgements: [
  what: string,
  pods: KubeObject[],
  disruptedPods: Loose | undefined,
  desired: number,
  expected: [healthy: number, allowed: number, going: string],
][] = [
  ['all healthy', [pod('a'), pod('b')], undefined, 1, [2, 1, '']],
  ['one not ready', [pod('a'), pod('b', { ready: false })], undefined, 1, [1, 0, '']],
  ['one being deleted', [pod('a'), pod('b', { deleting: true })], undefined, 1, [1, 0, '']],
  ['one being evicted', [pod('a'), pod('b')], { b: '2029-12-31T23:59:00Z' }, 1, [1, 0, 'b']],
  ['one that was not evicted', [pod('a'), pod('b')], { b: '2029-12-31T23:58:00Z' }, 1, [2, 1, '']],
  ['one evicted and deleted', [pod('a')], { b: '2029-12-31T23:59:00Z' }, 0, [1, 1, '']],
  ['none', [], undefined, 0, [0, 0, '']],
]
for (const [what, pods, disruptedPods, desiredHealthy, expected] of judgements) {
  test(`a budget of pods: ${what}`, () => {
    const budget = { metadata: { name: 'x', generation: 2 }, status: { disruptedPods } }
    const count = { expected: pods.length, desiredHealthy }
    const { status } = judge(budget, pods, count, { nowMs: now, release: 22 })
    assert.ok(status)
    const going = Object.keys(status.disruptedPods ?? {}).join()
    assert.deepEqual([status.currentHealthy, status.disruptionsAllowed, going], expected)
    assert.equal(status.observedGeneration, 2)
    const allowed = expected[1] > 0
    assert.deepEqual(status.conditions, [
      {
        type: 'DisruptionAllowed',
        status: allowed ? 'True' : 'False',
        observedGeneration: 2,
        lastTransitionTime: '2030-01-01T00:00:00Z',
        reason: allowed ? 'SufficientPods' : 'InsufficientPods',
        message: '',
      },
    ])
    const later = { nowMs: now + 1000, release: 22 }
    assert.equal(judge({ ...budget, status }, pods, count, later).status, undefined)
  })
}

checkBoundaries<KubeObject, string[]>(
  (release, object) => {
    const count = { expected: 1, desiredHealthy: 1 }
    const { status } = judge(object, [pod('a')], count, { nowMs: now, release })
    return [status, failed(object, 'no scale', now, release)].map(
      (of) => of?.conditions?.[0].reason ?? 'none',
    )
  },
  [
    [
      'conditions of a budget',
      [20, 21],
      { metadata: { name: 'x' } },
      ['none', 'none'],
      ['InsufficientPods', 'SyncFailed'],
    ],
  ],
)

const budgets = disruptionBudgets(22)
const labels = { app: 'web' }
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'i' }] },
}

async function runningPod(client: ApiClient, name: string, owner?: KubeObject, kind = '') {
  const ownerReferences = owner && [
    {
      apiVersion: 'apps/v1',
      kind,
      name: owner.metadata.name as string,
      uid: owner.metadata.uid as string,
      controller: true,
    },
  ]
  const metadata = {
    name,
    namespace: 'default',
    labels,
    ...(ownerReferences && { ownerReferences }),
  }
  const made = await client.create(core('pods'), 'default', { metadata, spec: template.spec })
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await client.update(core('pods'), { ...made, status }, 'status')
}

const budget = (spec: Loose): KubeObject => ({
  metadata: { name: 'budget', namespace: 'default' },
  spec: { selector: { matchLabels: labels }, ...spec },
})

const workload = (name: string, owner?: KubeObject): KubeObject => ({
  metadata: {
    name,
    namespace: 'default',
    ...(owner && {
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: owner.metadata.name as string,
          uid: owner.metadata.uid as string,
          controller: true,
        },
      ],
    }),
  },
  spec: { replicas: 4, selector: { matchLabels: labels }, template },
})

test('a budget follows its pods', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(disruptionController)
    for (const name of ['a', 'b', 'c']) await runningPod(client, name)
    await client.create(budgets, 'default', budget({ minAvailable: 2 }))
    const shows = async (expected: number, allowed: number) => {
      const { status } = await client.get(budgets, 'default', 'budget')
      return status?.expectedPods === expected && status.disruptionsAllowed === allowed
    }
    await until('one may go', () => shows(3, 1))
    await client.delete(core('pods'), 'default', 'a', { gracePeriodSeconds: 0 })
    await until('it is gone', () => shows(2, 0))
    await runningPod(client, 'd')
    await until('another may go', () => shows(3, 1))
    const relabelled = { metadata: { labels: { app: 'other' } } }
    await client.patch(core('pods'), 'default', 'd', relabelled)
    await until('it is no longer picked', () => shows(2, 0))
    await client.patch(budgets, 'default', 'budget', { spec: { minAvailable: 1 } })
    await until('less is asked for', () => shows(2, 1))
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

async function podsOfEmptySelector(release: number): Promise<number> {
  const cluster = await startCluster({ release })
  try {
    const { client } = cluster
    const resource = disruptionBudgets(release)
    cluster.run(disruptionController)
    await runningPod(client, 'a')
    await client.create(resource, 'default', budget({ selector: {}, minAvailable: 1 }))
    const status = async () => (await client.get(resource, 'default', 'budget')).status ?? {}
    await until('the pods are counted', async () => (await status()).observedGeneration === 1)
    return (await status()).expectedPods
  } finally {
    await cluster.stop()
  }
}
checkBoundaries<string, number>(podsOfEmptySelector, [
  ['pods of an empty selector', [20, 21], '', 0, 1],
])

test('the desired number of pods comes from the controller of the pods', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(disruptionController)
    const deployment = await client.create(deployments, 'default', workload('web'))
    const set = await client.create(replicaSets, 'default', workload('web-1', deployment))
    const alone = await client.create(replicaSets, 'default', workload('alone'))
    for (const name of ['a', 'b']) await runningPod(client, name, set, 'ReplicaSet')
    await client.create(budgets, 'default', budget({ maxUnavailable: '50%' }))
    const status = async () => (await client.get(budgets, 'default', 'budget')).status ?? {}
    await until('the scale of the deployment', async () => (await status()).expectedPods === 4)
    assert.deepEqual([(await status()).desiredHealthy, (await status()).currentHealthy], [2, 2])
    await runningPod(client, 'c', alone, 'ReplicaSet')
    await until('both', async () => (await status()).expectedPods === 8)

    const stray = { metadata: { name: 'gone', uid: 'x' } }
    await runningPod(client, 'd', stray, 'ReplicaSet')
    await until('a failure', async () => (await status()).conditions[0].reason === 'SyncFailed')
    const { disruptionsAllowed, conditions } = await status()
    assert.equal(disruptionsAllowed, 0)
    assert.equal(conditions[0].message, 'found no controllers for pod "d"')
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('a budget whose pods could not be counted is right again when they can be', async () => {
  let isAway = true
  const cluster = await startCluster({
    wrap: (client) =>
      new Proxy(client, {
        get(of, name: keyof ApiClient) {
          const call = (...args: unknown[]) => {
            const isCount = name === 'list' && !(args[2] as ListQuery)?.limit
            if (isAway && isCount) throw serviceUnavailable('away')
            return (of[name] as (...args: unknown[]) => unknown)(...args)
          }
          return call
        },
      }),
  })
  try {
    const { client } = cluster
    cluster.run(disruptionController)
    for (const name of ['a', 'b']) await runningPod(client, name)
    await client.create(budgets, 'default', budget({ minAvailable: 1 }))
    const status = async () => (await client.get(budgets, 'default', 'budget')).status ?? {}
    await until('a failure', async () => (await status()).conditions?.[0].reason === 'SyncFailed')
    await sleep(50)
    isAway = false
    await until('one may go', async () => (await status()).disruptionsAllowed === 1)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})
