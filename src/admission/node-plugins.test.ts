/** Plugins that check the node of a pod: its labels, its capacity, and its declared features. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { nodeDeclaredFeatures } from './node-declared-features.ts'
import { podResize } from './pod-resize.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { catalogOf, kindOf, outcome, pod, requestOf } from './requests.suite.ts'

const newest = catalogOf(37)
const podKind = kindOf('v1', 'pods', newest)
const sliceKind = kindOf('resource.k8s.io/v1', 'resourceslices', newest)
const zone = 'topology.kubernetes.io/zone'
const region = 'topology.kubernetes.io/region'

const reader = new MemoryReader()
const node = (name: string, labels: Record<string, string>, status: Loose = {}): void =>
  reader.put('', 'nodes', { metadata: { name, labels }, status })
node('n1', { [zone]: 'a', [region]: 'r', other: 'x' }, { allocatable: { cpu: '2', memory: '1Gi' } })
node('bare', {})
node('windows', { 'kubernetes.io/os': 'windows' })
node(
  'able',
  { 'kubernetes.io/os': 'linux' },
  {
    allocatable: { cpu: '8', memory: '8Gi' },
    declaredFeatures: ['DRANodeAllocatableResources', 'InPlacePodLevelResourcesVerticalScaling'],
  },
)

const labelled: [what: string, request: AdmissionRequest, expected: Loose | undefined][] = [
  [
    'a pod on a node',
    requestOf('CREATE', podKind, pod({ nodeName: 'n1' }, { labels: { [zone]: 'mine', a: 'b' } })),
    { [zone]: 'a', [region]: 'r', a: 'b' },
  ],
  ['a pod on no node', requestOf('CREATE', podKind, pod()), undefined],
  [
    'a pod on a node without labels',
    requestOf('CREATE', podKind, pod({ nodeName: 'bare' })),
    undefined,
  ],
  ['a pod on a missing node', requestOf('CREATE', podKind, pod({ nodeName: 'no' })), undefined],
  ['an update', requestOf('UPDATE', podKind, pod({ nodeName: 'n1' })), undefined],
  [
    'a binding',
    requestOf(
      'CREATE',
      podKind,
      { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } },
      { subresource: 'binding' },
    ),
    { [zone]: 'a', [region]: 'r' },
  ],
  [
    'a binding to something else',
    requestOf(
      'CREATE',
      podKind,
      { metadata: { name: 'p' }, target: { name: 'n1' } },
      { subresource: 'binding' },
    ),
    undefined,
  ],
]
for (const [what, request, expected] of labelled)
  test(`labels of the node on ${what}`, async () => {
    assert.equal(await outcome(podTopologyLabels, request, reader), 'admitted')
    assert.deepEqual(request.object?.metadata.labels, expected)
  })

const requests = (cpu: string, memory = '1') => ({ resources: { requests: { cpu, memory } } })
const onNode = (nodeName: string, generation: number, spec: Loose = {}): KubeObject =>
  pod({ nodeName, containers: [{ name: 'c', ...requests('1') }], ...spec }, { generation })
const change = (nodeName: string, next: Loose, before: Loose = {}, subresource = 'resize') =>
  requestOf('UPDATE', podKind, onNode(nodeName, 2, next), {
    old: onNode(nodeName, 1, before),
    subresource,
  })
const grown = (cpu: string, memory?: string) => ({
  containers: [{ name: 'c', ...requests(cpu, memory) }],
})
const no = '403 pods "p" is forbidden: '
const lacks = "node didn't have enough allocatable resources: "

const resizes: [what: string, request: AdmissionRequest, expected: string, cause?: string][] = [
  ['within what the node has', change('n1', grown('2')), 'admitted'],
  [
    'beyond that',
    change('n1', grown('2100m', '2Gi')),
    `${no}${lacks}cpu, requested: 2100, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824`,
    'NodeCapacity',
  ],
  [
    'beyond that with its overhead',
    change('n1', { ...grown('2'), overhead: { cpu: '1m' } }),
    `${no}${lacks}cpu, requested: 2001, allocatable: 2000`,
    'NodeCapacity',
  ],
  [
    'on a node of another system',
    change('windows', grown('1m')),
    `${no}pod resize is only supported on linux nodes, node "windows" is "windows"`,
    'UnsupportedPlatform',
  ],
  ['on a missing node', change('gone', grown('2')), `${no}node "gone" not found`],
  ['by another subresource', change('n1', grown('9'), {}, ''), 'admitted'],
  ['on no node', change('', grown('9')), 'admitted'],
  [
    'that changes nothing',
    requestOf('UPDATE', podKind, onNode('gone', 1), {
      old: onNode('gone', 1),
      subresource: 'resize',
    }),
    'admitted',
  ],
]
for (const [what, request, expected, cause] of resizes)
  test(`a resize ${what}: ${expected}`, async () => {
    assert.equal(await outcome(podResize, request, reader), expected)
    if (cause === undefined) return
    const refused = await Promise.resolve(podResize.validate?.(request, reader)).catch(
      (error: ApiError) => error,
    )
    assert.ok(refused instanceof ApiError)
    assert.deepEqual(refused.details?.causes, [{ reason: cause }])
  })

const plugins = new Map<number, AdmissionPlugin>()
const pluginOf = (release: number): AdmissionPlugin => {
  const made = plugins.get(release) ?? nodeDeclaredFeatures(() => true, releaseOf(release))
  plugins.set(release, made)
  return made
}
const needs = (...names: string[]) =>
  `${no}pod update requires features ${names.join(', ')} which are not available on node "n1"`
const init = (cpu: string, more: Loose = {}) => ({
  initContainers: [{ name: 'i', ...requests(cpu), ...more }],
})
const memory = (sizeLimit: string) => ({
  volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit } }],
})
const exact = (cpu: string) => ({
  containers: [
    { name: 'c', resources: { requests: { cpu, memory: '1' }, limits: { cpu, memory: '1' } } },
  ],
})
const sized = { resources: { requests: { cpu: '1' } } }

const declared: [what: string, release: number, request: AdmissionRequest, expected: string][] = [
  [
    'resources of the whole pod',
    35,
    change('n1', sized),
    needs('InPlacePodLevelResourcesVerticalScaling'),
  ],
  ['resources of the whole pod on a node that can', 35, change('able', sized), 'admitted'],
  [
    'a guaranteed pod',
    35,
    change('n1', exact('2'), exact('1')),
    needs('GuaranteedQoSPodCPUResize'),
  ],
  ['a guaranteed pod', 36, change('n1', exact('2'), exact('1')), 'admitted'],
  ['an init container', 35, change('n1', init('2'), init('1')), 'admitted'],
  [
    'an init container',
    36,
    change('n1', init('2'), init('1')),
    needs('InPlacePodVerticalScalingInitContainers'),
  ],
  [
    'a sidecar',
    36,
    change('n1', init('2', { restartPolicy: 'Always' }), init('1', { restartPolicy: 'Always' })),
    'admitted',
  ],
  ['a volume in memory', 36, change('n1', memory('2Gi'), memory('1Gi')), 'admitted'],
  [
    'a volume in memory and the whole pod',
    37,
    change('n1', { ...memory('2Gi'), ...sized }, memory('1Gi')),
    needs(
      'InPlacePodLevelResourcesVerticalScaling',
      'InPlacePodVerticalScalingMemoryBackedVolumes',
    ),
  ],
  ['a pod on a missing node', 37, change('gone', sized), `${no}node "gone" not found`],
  ['the status', 37, change('n1', sized, {}, 'status'), 'admitted'],
]
for (const [what, release, request, expected] of declared)
  test(`a change of ${what} as 1.${release}: ${expected}`, async () =>
    assert.equal(await outcome(pluginOf(release), request, reader), expected))

const slice = (spec: Loose, device: Loose = {}) =>
  requestOf('CREATE', sliceKind, {
    metadata: { name: 's' },
    spec: {
      ...spec,
      devices: [{ name: 'd', nodeAllocatableResources: { cpu: {} }, ...device }],
    },
  })
const refused = '403 resourceslices.resource.k8s.io "s" is forbidden: '
const selector = (value: string) => ({
  nodeSelector: {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: [value] }] },
    ],
  },
})
const slices: [what: string, release: number, request: AdmissionRequest, expected: string][] = [
  ['of a node that declares it', 37, slice({ nodeName: 'able' }), 'admitted'],
  [
    'of a node that does not',
    37,
    slice({ nodeName: 'n1' }),
    `${refused}node "n1" does not support DRANodeAllocatableResources feature`,
  ],
  ['of a node that does not', 36, slice({ nodeName: 'n1' }), 'admitted'],
  [
    'of a missing node',
    37,
    slice({ nodeName: 'gone' }),
    `${refused}node "gone" not found for device "d"`,
  ],
  [
    'of no node',
    37,
    slice({}),
    `${refused}device "d" in ResourceSlice has NodeAllocatableResources but does not map to any nodes`,
  ],
  ['of nodes that declare it', 37, slice(selector('linux')), 'admitted'],
  [
    'of nodes that do not',
    37,
    slice(selector('windows')),
    `${refused}node "windows" does not support DRANodeAllocatableResources feature`,
  ],
  [
    'of all nodes',
    37,
    slice({ allNodes: true }),
    `${refused}node "n1" does not support DRANodeAllocatableResources feature`,
  ],
  [
    'of the node of the device',
    37,
    slice({ perDeviceNodeSelection: true, nodeName: 'n1' }, { nodeName: 'able' }),
    'admitted',
  ],
  [
    'without a mapping',
    37,
    slice({ nodeName: 'n1' }, { nodeAllocatableResources: {} }),
    'admitted',
  ],
]
for (const [what, release, request, expected] of slices)
  test(`a slice with devices ${what} as 1.${release}: ${expected}`, async () =>
    assert.equal(await outcome(pluginOf(release), request, reader), expected))
