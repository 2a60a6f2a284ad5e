import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { AdmissionPlugin } from '#admission/admission.ts'
import { kindOf, outcome, pod, podKind, requestOf } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { conflict, modified } from '#api/status-error.ts'
import { calculateUsage } from './calculate.ts'
import { Evaluators } from './evaluators.ts'
import { listOf } from './resource-amounts.ts'
import { resourceQuota } from './resource-quota.ts'

const settings = { release: releaseOf(22), feature: () => true, now: () => 0 }

function quota(
  hard: Record<string, string>,
  used: Record<string, string>,
  spec: Loose = {},
): KubeObject {
  return {
    metadata: { name: 'q', namespace: 'ns', resourceVersion: '1' },
    spec: { hard, ...spec },
    status: { hard, used },
  }
}

interface Rig {
  readonly plugin: AdmissionPlugin
  readonly reader: MemoryReader
  readonly used: () => Promise<Record<string, string>>
}

/** `conflicts`: how many writes of the status lose a race. */
async function rig(object: KubeObject, conflicts = 0): Promise<Rig> {
  const reader = new MemoryReader()
  reader.put('', 'resourcequotas', object)
  let left = conflicts
  const plugin = resourceQuota({
    ...settings,
    limited: [],
    async updateStatus(next) {
      await new Promise((resolve) => setImmediate(resolve))
      if (left-- > 0) throw conflict({ group: '', plural: 'resourcequotas' }, 'q', modified)
      const there = (await reader.get('', 'resourcequotas', 'ns', 'q')) as KubeObject
      assert.equal(
        next.metadata.resourceVersion,
        there.metadata.resourceVersion,
        'a status over a newer one',
      )
      const resourceVersion = String(Number(there.metadata.resourceVersion) + 1)
      reader.put('', 'resourcequotas', { ...next, metadata: { ...next.metadata, resourceVersion } })
    },
  })
  await plugin.start?.(reader)
  const used = async () => (await reader.get('', 'resourcequotas', 'ns', 'q'))?.status.used
  return { plugin, reader, used }
}

const cpuPod = (cpu: string) =>
  pod({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] })

test('the usage of a pod is added to the status, and excess is rejected', async () => {
  const { plugin, reader, used } = await rig(
    quota({ pods: '5', 'requests.cpu': '1' }, { pods: '0', 'requests.cpu': '0' }),
  )
  const create = (cpu: string) => outcome(plugin, requestOf('CREATE', podKind, cpuPod(cpu)), reader)
  assert.equal(await create('600m'), 'admitted')
  assert.deepEqual(await used(), { pods: '1', 'requests.cpu': '600m' })
  assert.equal(
    await create('500m'),
    '403 pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
  )
  assert.deepEqual(await used(), { pods: '1', 'requests.cpu': '600m' })
})

test('concurrent requests never exceed the quota', async () => {
  const { plugin, reader, used } = await rig(quota({ pods: '5' }, { pods: '0' }), 2)
  const all = Array.from({ length: 20 }, () =>
    outcome(plugin, requestOf('CREATE', podKind, pod()), reader),
  )
  const admitted = (await Promise.all(all)).filter((text) => text === 'admitted')
  assert.equal(admitted.length, 5)
  assert.deepEqual(await used(), { pods: '5' })
})

test('a dry run uses nothing', async () => {
  const { plugin, reader, used } = await rig(quota({ pods: '1' }, { pods: '0' }))
  const request = requestOf('CREATE', podKind, pod(), { dryRun: true })
  assert.equal(await outcome(plugin, request, reader), 'admitted')
  assert.deepEqual(await used(), { pods: '0' })
})

test('a status that changes permanently is a conflict', async () => {
  const { plugin, reader } = await rig(quota({ pods: '1' }, { pods: '0' }), 99)
  assert.match(
    await outcome(plugin, requestOf('CREATE', podKind, pod()), reader),
    /^409 Operation cannot be fulfilled/,
  )
})

test('namespaces without quotas, and kinds that are not counted, are synchronous', async () => {
  const { plugin, reader } = await rig(quota({ pods: '1' }, { pods: '0' }))
  for (const request of [
    requestOf('CREATE', podKind, pod(), { namespace: 'other' }),
    requestOf('UPDATE', podKind, pod()),
    requestOf('CREATE', podKind, pod(), { subresource: 'eviction' }),
    requestOf('CREATE', kindOf('v1', 'events'), {}),
  ]) {
    assert.equal(plugin.validate?.(request, reader), undefined)
  }
})

const refusedPod = '403 pods "p" is forbidden: '
const cases: [name: string, quota: KubeObject, object: KubeObject, expected: string][] = [
  [
    'unknown status',
    { ...quota({ pods: '1' }, {}), status: { hard: { pods: '1' } } },
    pod(),
    `${refusedPod}status unknown for quota: q, resources: pods`,
  ],
  [
    'counted resources must be specified',
    quota(
      { 'limits.cpu': '1', 'requests.memory': '1Gi' },
      { 'limits.cpu': '0', 'requests.memory': '0' },
    ),
    pod(),
    `${refusedPod}failed quota: q: must specify limits.cpu,requests.memory`,
  ],
  [
    'out of scope',
    quota({ pods: '0' }, { pods: '0' }, { scopes: ['Terminating'] }),
    pod(),
    'admitted',
  ],
  [
    'in scope',
    quota({ pods: '0' }, { pods: '0' }, { scopes: ['NotTerminating', 'BestEffort'] }),
    pod(),
    `${refusedPod}exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`,
  ],
  [
    'priority',
    quota(
      { pods: '0' },
      { pods: '0' },
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
        },
      },
    ),
    pod({ priorityClassName: 'high' }),
    `${refusedPod}exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`,
  ],
  [
    'another priority',
    quota(
      { pods: '0' },
      { pods: '0' },
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
        },
      },
    ),
    pod({ priorityClassName: 'low' }),
    'admitted',
  ],
]
for (const [name, object, asked, expected] of cases) {
  test(name, async () => {
    const { plugin, reader } = await rig(object)
    assert.equal(await outcome(plugin, requestOf('CREATE', podKind, asked), reader), expected)
  })
}

test('node ports are counted when a service gets a type that has them', async () => {
  const { plugin, reader, used } = await rig(
    quota({ 'services.nodeports': '2' }, { 'services.nodeports': '0' }),
  )
  const service = (type: string) => ({
    metadata: { name: 's', resourceVersion: '1' },
    spec: { type, ports: [{ port: 1 }, { port: 2 }] },
  })
  const kind = kindOf('v1', 'services')
  const request = () =>
    requestOf('UPDATE', kind, service('NodePort'), { old: service('ClusterIP') })
  assert.equal(await outcome(plugin, request(), reader), 'admitted')
  assert.deepEqual(await used(), { 'services.nodeports': '2' })
  assert.match(
    await outcome(plugin, request(), reader),
    /exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2/,
  )
})

test('usage is computed from existing objects', async () => {
  const object = quota(
    { pods: '9', 'requests.cpu': '9', 'count/deployments.apps': '9', unknown: '1' },
    {},
  )
  const kinds = [
    {
      group: '',
      plural: 'pods',
      list: () => [cpuPod('250m'), cpuPod('750m'), { ...cpuPod('5'), status: { phase: 'Failed' } }],
    },
    { group: 'apps', plural: 'deployments', list: () => [{ metadata: { name: 'd' } }] },
  ]
  const counted = await calculateUsage(object, new Evaluators(settings), kinds, () => [])
  assert.deepEqual(listOf(counted), {
    'count/deployments.apps': '1',
    pods: '2',
    'requests.cpu': '1',
  })
})
