/** Changes between releases in the usage that quotas count. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogOf, kindOf, pod, requestOf } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import { checkQuotas } from './check.ts'
import { Evaluators } from './evaluators.ts'

const newest = catalogOf(37)
const podKind = kindOf('v1', 'pods', newest)
const claimKind = kindOf('v1', 'persistentvolumeclaims', newest)
const deviceKind = kindOf('resource.k8s.io/v1', 'resourceclaims', newest)

const quota = (hard: Record<string, string>, spec: Loose = {}): KubeObject => ({
  metadata: { name: 'q', namespace: 'ns' },
  spec: { hard, ...spec },
  status: { hard, used: Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])) },
})

interface Row {
  readonly what: string
  readonly release: number
  readonly kind: typeof podKind
  readonly hard: Record<string, string>
  readonly scopes?: Loose
  readonly object: KubeObject
  readonly old?: KubeObject
  readonly subresource?: string
  readonly others?: Readonly<Record<string, KubeObject[]>>
  readonly used: string
}

async function usedBy(row: Row): Promise<string> {
  const { release, kind, object, old, subresource = '', others = {} } = row
  const of = releaseOf(release)
  const evaluators = new Evaluators({ feature: () => true, now: () => 0, release: of })
  const evaluator = evaluators.of(kind.group, kind.plural)
  assert.ok(evaluator)
  const operation = old === undefined ? 'CREATE' : 'UPDATE'
  const request = requestOf(operation, kind, object, { old, subresource })
  if (!evaluator.handles(request)) return 'not counted'
  await evaluator.prepare?.((_, plural) => others[plural] ?? [], 'ns')
  try {
    const [charged] = checkQuotas([quota(row.hard, row.scopes)], request, evaluator, [], of)
    const used = Object.entries(charged?.status.used ?? {}).filter(([, amount]) => amount !== '0')
    return used.map(([name, amount]) => `${name}=${amount}`).join(' ')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.message
  }
}

const stored = { resourceVersion: '1' }
const running = (requests: Loose, more: Loose = {}, limits: Loose = {}) =>
  pod({ containers: [{ name: 'c', resources: { requests, limits } }], ...more }, stored)
const overhead = { overhead: { cpu: '1' } }
const cpu = { 'limits.cpu': '9', 'requests.cpu': '9' }
const ending = { scopes: ['Terminating'] }
const deadline = { activeDeadlineSeconds: 5 }
const gold = { scopeSelector: { matchExpressions: [vac('In', ['gold'])] } }
function vac(operator: string, values: string[]): Loose {
  return { scopeName: 'VolumeAttributesClass', operator, values }
}
const claim = (spec: Loose, status: Loose = {}): KubeObject => ({
  metadata: { name: 'c', namespace: 'ns', ...stored },
  spec: { resources: { requests: { storage: '1Gi' } }, ...spec },
  status,
})
const devices = (requests: Loose[], metadata: Loose = {}): KubeObject => ({
  metadata: { name: 'd', namespace: 'ns', ...metadata },
  spec: { devices: { requests } },
})
const exactly = (deviceClassName: string, count: number) => ({
  exactly: { deviceClassName, allocationMode: 'ExactCount', count },
})
const gpus = { 'gpu.deviceclass.resource.k8s.io/devices': '40' }
const gpuClass = { metadata: { name: 'gpu' }, spec: { extendedResourceName: 'example.com/gpu' } }
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p-uid', controller: true }
const ofPod = {
  annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
  ownerReferences: [owner],
}
const paying = pod(
  { containers: [{ name: 'c', resources: { requests: { 'example.com/gpu': '1' } } }] },
  { uid: 'p-uid' },
)
const extended = { 'requests.example.com/gpu': '9' }
const fails = 'pods "p" is forbidden: failed quota: q: must specify '

const rows: Row[] = []
const pods = { kind: podKind, hard: cpu }
const add = (
  what: string,
  row: Omit<Row, 'what' | 'release' | 'used'>,
  ...of: [number, string][]
) => {
  for (const [release, used] of of) rows.push({ what, ...row, release, used })
}
add(
  'overhead of a pod without limits',
  {
    ...pods,
    object: running({ cpu: '1' }, overhead, { memory: '1' }),
    hard: { 'limits.memory': '9' },
  },
  [26, 'limits.memory=1'],
)
add(
  'overhead of a pod without a limit of it',
  { ...pods, object: running({ cpu: '1' }, overhead, {}), hard: { 'requests.cpu': '9' } },
  [26, 'requests.cpu=2'],
  [27, 'requests.cpu=2'],
)
add(
  'a container that lacks a resource',
  { ...pods, object: running({}), hard: { cpu: '1', memory: '1' } },
  [23, `${fails}cpu,memory`],
  [24, `${fails}cpu for: c; memory for: c`],
)
add(
  'a sidecar runs beside the containers',
  {
    ...pods,
    hard: { 'requests.cpu': '9' },
    object: running(
      { cpu: '1' },
      {
        initContainers: [
          { name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } },
          { name: 'i', resources: { requests: { cpu: '4' } } },
        ],
      },
    ),
  },
  [28, 'requests.cpu=6'],
)
add(
  'resources of the whole pod',
  {
    ...pods,
    hard: { 'requests.cpu': '9' },
    object: running({}, { resources: { requests: { cpu: '3' } } }),
  },
  [32, 'requests.cpu=3'],
)
add(
  'a resize',
  {
    ...pods,
    hard: { 'requests.cpu': '9' },
    subresource: 'resize',
    object: running({ cpu: '3' }),
    old: running({ cpu: '1' }),
  },
  [31, 'not counted'],
  [32, 'requests.cpu=2'],
)
add(
  'what the kubelet has allocated',
  {
    ...pods,
    hard: { 'requests.cpu': '9' },
    object: {
      ...running({ cpu: '1' }),
      status: { containerStatuses: [{ name: 'c', allocatedResources: { cpu: '2' } }] },
    },
  },
  [31, 'requests.cpu=1'],
  [32, 'requests.cpu=2'],
)
add(
  'an update into the scope of a quota',
  {
    ...pods,
    hard: { pods: '5' },
    scopes: ending,
    object: running({}, deadline),
    old: running({}),
  },
  [32, 'not counted'],
  [33, 'pods=1'],
)
add(
  'a resource that stands for a device class',
  {
    ...pods,
    hard: { 'requests.deviceclass.resource.kubernetes.io/gpu': '5' },
    object: running({ 'deviceclass.resource.kubernetes.io/gpu': '1' }),
  },
  [34, ''],
  [35, 'requests.deviceclass.resource.kubernetes.io/gpu=1'],
)
const claims = { kind: claimKind, hard: { persistentvolumeclaims: '5' }, scopes: gold }
add(
  'a volume attributes class',
  { ...claims, object: claim({ volumeAttributesClassName: 'gold' }) },
  [32, ''],
  [33, 'persistentvolumeclaims=1'],
)
add(
  'another volume attributes class',
  { ...claims, object: claim({ volumeAttributesClassName: 'silver' }) },
  [33, ''],
)
add(
  'a volume that becomes of a class',
  {
    ...claims,
    subresource: 'status',
    object: claim({}, { currentVolumeAttributesClassName: 'gold' }),
    old: claim({}),
  },
  [32, 'not counted'],
  [33, 'persistentvolumeclaims=1'],
)
add(
  'an expansion that failed, beyond the quota',
  {
    kind: claimKind,
    hard: { 'requests.storage': '1Gi' },
    subresource: 'status',
    object: claim({}, { allocatedResources: { storage: '3Gi' } }),
    old: claim({}),
  },
  [33, 'requests.storage=2Gi'],
)
const byClass = { kind: deviceKind, hard: gpus }
add(
  'devices by class',
  { ...byClass, object: devices([exactly('gpu', 2), exactly('nic', 1), exactly('gpu', 1)]) },
  [30, ''],
  [31, 'gpu.deviceclass.resource.k8s.io/devices=3'],
)
add(
  'all devices of a class',
  {
    ...byClass,
    object: devices([{ exactly: { deviceClassName: 'gpu', allocationMode: 'All' } }]),
  },
  [31, 'gpu.deviceclass.resource.k8s.io/devices=32'],
)
add(
  'the most of several choices',
  {
    ...byClass,
    object: devices([{ firstAvailable: [exactly('gpu', 2).exactly, exactly('gpu', 3).exactly] }]),
  },
  [33, 'gpu.deviceclass.resource.k8s.io/devices=3'],
)
const byResource = { kind: deviceKind, hard: extended }
const classes = { deviceclasses: [gpuClass] }
add(
  'devices of a class that stands for a resource',
  { ...byResource, object: devices([exactly('gpu', 2)]), others: classes },
  [34, ''],
  [35, 'requests.example.com/gpu=2'],
)
add(
  'devices that the pod has paid for',
  {
    ...byResource,
    object: devices([exactly('gpu', 2)], ofPod),
    others: { ...classes, pods: [paying] },
  },
  [35, 'requests.example.com/gpu=1'],
)
add(
  'a second claim of that pod',
  {
    ...byResource,
    object: devices([exactly('gpu', 2)], { ...ofPod, creationTimestamp: '2026-01-02T00:00:00Z' }),
    others: {
      ...classes,
      pods: [paying],
      resourceclaims: [
        devices([], { ...ofPod, name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' }),
      ],
    },
  },
  [35, 'requests.example.com/gpu=2'],
)

for (const row of rows)
  test(`${row.what} as 1.${row.release}: ${row.used || 'nothing'}`, async () =>
    assert.equal(await usedBy(row), row.used))
