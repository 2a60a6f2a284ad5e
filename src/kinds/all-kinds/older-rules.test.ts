/** Rules that differ in the oldest releases. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dns1123Subdomain, labelValue, qualifiedName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { horizontalPodAutoscalerBehaviour } from '#kinds/autoscaling/horizontal-pod-autoscaler/behaviour.ts'
import { checkCreate, checkUpdate, contextFor, inDefault, named } from './behaviour.suite.ts'
import { configMapBehaviour } from '#kinds/core/config-map/behaviour.ts'
import { nodeBehaviour } from '#kinds/core/node/behaviour.ts'
import { priorityClassBehaviour } from '#kinds/scheduling/priority-class/behaviour.ts'
import { resourceQuotaBehaviour } from '#kinds/core/resource-quota/behaviour.ts'
import { secretBehaviour } from '#kinds/core/secret/behaviour.ts'
import { ingressBehaviour } from '#kinds/networking/ingress/behaviour.ts'
import { networkPolicyBehaviour } from '#kinds/networking/network-policy/behaviour.ts'
import { podBehaviour } from '#kinds/core/pod/behaviour.ts'
import { podTemplateBehaviour } from '#kinds/core/pod-template/behaviour.ts'
import { endpointSliceBehaviour } from '#kinds/discovery/endpoint-slice/behaviour.ts'
import { endpointsBehaviour } from '#kinds/core/endpoints/behaviour.ts'
import { olderServiceBehaviour } from '#kinds/core/service/older-behaviour.ts'
import { csiDriverBehaviour } from '#kinds/storage/csi-driver/behaviour.ts'
import { csiNodeBehaviour } from '#kinds/storage/csi-node/behaviour.ts'
import { persistentVolumeClaimBehaviour } from '#kinds/core/persistent-volume-claim/behaviour.ts'
import { replicationControllerBehaviour } from '#kinds/core/replication-controller/behaviour.ts'

const old = contextFor({ release: 15 })

checkCreate(nodeBehaviour, [
  ['one range', named({ spec: { podCIDR: '10.0.0.0/24' } }), [], old],
  [
    'one invalid range',
    named({ spec: { podCIDR: 'b' } }),
    ['spec.podCIDR: Invalid value: "b": not a valid CIDR'],
    old,
  ],
])
const fewChanges =
  'node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)'
checkUpdate(nodeBehaviour, [
  [
    'one range that changes',
    named({ spec: { podCIDR: '10.0.0.0/24' } }),
    named({ spec: { podCIDR: '10.0.1.0/24' } }),
    [
      'spec.podCIDR: Forbidden: node updates may not change podCIDR except from "" to valid',
      `[]: Forbidden: ${fewChanges}`,
    ],
    old,
  ],
  [
    'another id',
    named({ spec: {} }),
    named({ spec: { externalID: 'x' } }),
    [`[]: Forbidden: ${fewChanges}`],
    old,
  ],
])

const scaler = (metric: Loose) =>
  inDefault({
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'a' }, metrics: [metric] },
  })
const unsupported =
  'spec.metrics[0].type: Unsupported value: "Foo": supported values: "External", "Object", "Pods", "Resource"'
const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } }
checkCreate(horizontalPodAutoscalerBehaviour, [
  [
    'a metric is in the field of its type, in lower case',
    scaler({ type: 'Foo', resource }),
    [
      unsupported,
      'spec.metrics[0].foo: Required value: must populate information for the given metric source',
    ],
    old,
  ],
  [
    'a metric of no type',
    scaler({}),
    [
      'spec.metrics[0].type: Required value: must specify a metric source type',
      'spec.metrics[0].type: Unsupported value: "": supported values: "External", "Object", "Pods", "Resource"',
      'spec.metrics[0][]: Required value: must populate information for the given metric source',
    ],
    old,
  ],
  [
    'a minimum of zero',
    inDefault({
      spec: { minReplicas: 0, maxReplicas: 1, scaleTargetRef: { kind: 'D', name: 'a' } },
    }),
    ['spec.minReplicas: Invalid value: 0: must be greater than 0'],
    old,
  ],
  ['a metric of a known type', scaler({ type: 'Resource', resource }), [], old],
])

const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    containers: [
      {
        name: 'c',
        image: 'i',
        imagePullPolicy: 'Always',
        terminationMessagePolicy: 'File',
      },
    ],
  },
}
const controller = (selector: Loose) => inDefault({ spec: { replicas: 1, selector, template } })
checkCreate(replicationControllerBehaviour, [
  [
    'a selector with an invalid label selects no pods',
    controller({ app: 'web', memory: '/x' }),
    ['spec.selector: Required value'],
    old,
  ],
  ['a selector of labels', controller({ app: 'web' }), [], old],
])

test('the preemption policy of a class is dropped in releases without the field', () => {
  const kept = (gates: string[], before?: Loose) => {
    const next = named({ value: 1, preemptionPolicy: 'Never' })
    const context = contextFor({ release: 15 }, gates)
    if (before === undefined) priorityClassBehaviour.prepareForCreate?.(next, context)
    else priorityClassBehaviour.prepareForUpdate?.(next, named(before), context)
    return next.preemptionPolicy
  }
  assert.equal(kept([]), undefined)
  assert.equal(kept(['NonPreemptingPriority']), 'Never')
  assert.equal(kept([], { preemptionPolicy: 'Never' }), 'Never')
  assert.equal(kept([], {}), undefined)
})

const balanced = (...protocols: string[]) =>
  inDefault({
    spec: {
      type: 'LoadBalancer',
      sessionAffinity: 'None',
      externalTrafficPolicy: 'Cluster',
      ports: protocols.map((protocol) => ({
        name: protocol.toLowerCase(),
        port: 80,
        targetPort: 80,
        protocol,
      })),
    },
  })
const goPort = (name: string, protocol: string) =>
  `core.ServicePort{Name:"${name}", Protocol:"${protocol}", Port:80, ` +
  'TargetPort:intstr.IntOrString{Type:0, IntVal:80, StrVal:""}, NodePort:0}'
checkCreate(olderServiceBehaviour, [
  ['a load balancer of one protocol', balanced('UDP'), [], old],
  [
    'a load balancer of two protocols',
    balanced('TCP', 'UDP'),
    [
      `spec.ports: Invalid value: []core.ServicePort{${goPort('tcp', 'TCP')}, ${goPort('udp', 'UDP')}}: ` +
        'cannot create an external load balancer with mix protocols',
    ],
    old,
  ],
  [
    'a load balancer of an unknown protocol',
    balanced('ODD'),
    [
      'spec.ports[0].protocol: Unsupported value: "ODD": supported values: "SCTP", "TCP", "UDP"',
      'spec.ports[0].protocol: Invalid value: "ODD": cannot create an external load balancer with non-TCP/UDP/SCTP ports',
    ],
    old,
  ],
])

const serving = (spec: Loose) =>
  inDefault({
    spec: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
      ...spec,
    },
  })
checkCreate(olderServiceBehaviour, [
  ['an address', serving({ clusterIP: '10.0.0.1' }), [], old],
  [
    'an invalid address',
    serving({ clusterIP: 'web' }),
    [`spec.clusterIP: Invalid value: "web": must be empty, 'None', or a valid IP address`],
    old,
  ],
  [
    'no address for what has node ports',
    serving({ type: 'NodePort', clusterIP: 'None' }),
    [`spec.clusterIP: Invalid value: "None": may not be set to 'None' for NodePort services`],
    old,
  ],
  [
    'an address of another name',
    serving({ type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.1' }),
    ['spec.clusterIP: Forbidden: must be empty for ExternalName services'],
    old,
  ],
])

checkCreate(networkPolicyBehaviour, [
  [
    'an exception is within its range, whole or in part',
    inDefault({
      spec: {
        podSelector: {},
        ingress: [
          { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8', '11.1.0.9/16'] } }] },
        ],
      },
    }),
    ['spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: 11.1.0.0: not within CIDR range'],
    old,
  ],
])

const pages = { 'hugepages-1Gi': '1Gi', 'hugepages-2Mi': '2Mi' }
checkCreate(nodeBehaviour, [
  ['huge pages of two sizes', named({ status: { capacity: pages } }), []],
  [
    'huge pages of two sizes',
    named({ status: { capacity: pages } }),
    [
      'status.capacity.hugepages-2Mi: Invalid value: resource.Quantity{i:resource.int64Amount{value:2097152, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"2Mi", Format:"BinarySI"}: may not have pre-allocated hugepages for multiple page sizes',
    ],
    old,
  ],
])

const term = { labelSelector: { matchLabels: { a: '_' } }, topologyKey: 'k' }
const withTerm = {
  ...template.spec,
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
}
checkCreate(podTemplateBehaviour, [
  [
    'the selector of a term is called by what it holds',
    inDefault({ template: { ...template, spec: withTerm } }),
    [
      `template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchExpressions.matchLabels: Invalid value: "_": ${labelValue('_')[0]}`,
    ],
    old,
  ],
])

const keys = (...topologyKeys: string[]) =>
  named({ spec: { drivers: [{ name: 'a.b', nodeID: 'n', topologyKeys }] } })
const problem = qualifiedName('/x')[0]
checkCreate(csiNodeBehaviour, [
  ['a key', keys('a', '/x'), [`spec.drivers[0]: Invalid value: "/x": ${problem}`]],
  [
    'a key among others',
    keys('a', '/x'),
    [`spec.drivers[0]: Invalid value: []string{"a", "/x"}: ${problem}`],
    contextFor({ release: 21 }),
  ],
])

const longId = (length: number) =>
  named({ spec: { drivers: [{ name: 'a.b', nodeID: 'n'.repeat(length) }] } })
const tooLong = (length: number, max: number) =>
  `spec.drivers[0].nodeID: Invalid value: "${'n'.repeat(length)}": must be ${max} characters or less`
checkCreate(csiNodeBehaviour, [
  ['a long id', longId(192), []],
  ['a longer id', longId(193), [tooLong(193, 192)]],
  ['an id as long as it was', longId(128), [], contextFor({ release: 21 })],
  [
    'an invalid name is reported twice',
    { metadata: { name: '_' }, spec: { drivers: [] } },
    [`metadata.name: Invalid value: "_": ${dns1123Subdomain('_')[0]}`],
    old,
  ],
  ['an id too long then', longId(129), [tooLong(129, 128)], contextFor({ release: 21 })],
])
checkUpdate(csiNodeBehaviour, [
  [
    'ids that were long stay',
    longId(129),
    longId(193),
    [
      tooLong(193, 128),
      tooLong(193, 128),
      `CSINodeDriver: Invalid value: storage.CSINodeDriver{Name:"a.b", NodeID:"${'n'.repeat(193)}", TopologyKeys:[]string(nil), Allocatable:(*storage.VolumeNodeResources)(nil)}: field is immutable`,
    ],
    contextFor({ release: 21 }),
  ],
])

const policy = (...policyTypes: string[]) => inDefault({ spec: { podSelector: {}, policyTypes } })
const unsupportedType = (i: number, type: string) =>
  `spec.policyTypes[${i}]: Unsupported value: "${type}": supported values: "Ingress", "Egress"`
checkCreate(networkPolicyBehaviour, [
  ['an invalid type', policy('Ingress', 'x'), [unsupportedType(1, 'x')]],
  [
    'an invalid type is reported for each entry',
    policy('Ingress', 'x'),
    [unsupportedType(0, 'Ingress'), unsupportedType(1, 'x')],
    old,
  ],
])

const scoped = (scopeName: string) =>
  inDefault({
    spec: { scopeSelector: { matchExpressions: [{ scopeName, operator: 'In', values: ['a'] }] } },
  })
checkCreate(resourceQuotaBehaviour, [
  [
    'a scope that was not known',
    scoped('CrossNamespacePodAffinity'),
    [
      'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "CrossNamespacePodAffinity": unsupported scope',
    ],
    old,
  ],
])

checkUpdate(ingressBehaviour, [
  [
    'everything is checked twice',
    inDefault({ spec: { backend: { serviceName: 'a', servicePort: 80 } } }),
    inDefault({ spec: {} }),
    Array(2).fill(
      'spec: Invalid value: []networking.IngressRule(nil): either `backend` or `rules` must be specified',
    ),
    old,
  ],
])

test('an empty text as port of a service counts as absent', () => {
  const port = {}
  rememberEmpty(port, 'name')
  const spec = { defaultBackend: { service: { name: 's', port } } }
  const errors = ingressBehaviour.validateCreate?.(inDefault({ spec }), old) ?? []
  assert.deepEqual(
    errors.map(({ field, message }) => [field, message]),
    [
      'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'must contain at least one letter (a-z)',
    ].map((why) => ['spec.backend.servicePort', `Invalid value: "": ${why}`]),
  )
})

test('topology keys are dropped unless they are used', () => {
  const kept = (gates: string[], before: Loose = {}) => {
    const next = serving({ topologyKeys: ['a'] })
    olderServiceBehaviour.prepareForUpdate?.(
      next,
      serving(before),
      contextFor({ release: 21 }, gates),
    )
    return next.spec.topologyKeys
  }
  assert.equal(kept([]), undefined)
  assert.deepEqual(kept(['ServiceTopology']), ['a'])
  assert.deepEqual(kept([], { topologyKeys: ['b'] }), ['a'])
})

const claim = (storage: string) =>
  inDefault({ spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } })
const size = (text: string, why: string) =>
  `spec.resources[storage]: Invalid value: "${text}": ${why}`
checkCreate(persistentVolumeClaimBehaviour, [
  [
    'in 1.16 a size below zero has two errors',
    claim('-1'),
    [size('-1', 'must be greater than or equal to 0'), size('-1', 'must be greater than zero')],
    contextFor({ release: 16 }),
  ],
  ['nothing', claim('0'), [size('0', 'must be greater than zero')], contextFor({ release: 16 })],
  [
    'in 1.17 a size below zero has one error',
    claim('-1'),
    [size('-1', 'must be greater than zero')],
    contextFor({ release: 17 }),
  ],
])

const withSource = (kind: string, apiGroup?: string) => {
  const object = claim('1Gi')
  object.spec.dataSource = { kind, name: 'x', ...(apiGroup && { apiGroup }) }
  return object
}
const snapshots = 'snapshot.storage.k8s.io'
const sources: [release: number, gates: string[], kind: string, group: string, kept: boolean][] = [
  [15, [], 'PersistentVolumeClaim', '', false],
  [15, ['VolumePVCDataSource'], 'PersistentVolumeClaim', '', true],
  [16, ['VolumePVCDataSource'], 'VolumeSnapshot', snapshots, false],
  [18, ['VolumePVCDataSource'], 'PersistentVolumeClaim', '', true],
  [19, [], 'VolumeSnapshot', snapshots, false],
  [19, ['VolumeSnapshotDataSource'], 'VolumeSnapshot', snapshots, true],
  [20, ['VolumeSnapshotDataSource'], 'VolumeSnapshot', snapshots, true],
  [20, [], 'Thing', 'example.com', false],
  [21, ['AnyVolumeDataSource'], 'Thing', 'example.com', true],
  [22, [], 'Thing', 'example.com', false],
]
for (const [release, gates, kind, group, kept] of sources) {
  test(`1.${release} ${gates}: a claim made from a ${kind} is ${kept ? 'kept' : 'dropped'}`, () => {
    const object = withSource(kind, group)
    const context = contextFor({ release, feature: (gate) => gates.includes(gate) })
    persistentVolumeClaimBehaviour.prepareForCreate?.(object, context)
    assert.equal(object.spec.dataSource !== undefined, kept)
    assert.equal(object.spec.dataSourceRef, undefined)
  })
}

const port = { port: 80, protocol: 'TCP', targetPort: 80, appProtocol: 'x y' }
const subsets = [{ addresses: [{ ip: '10.1.1.1' }], ports: [port] }]
const off =
  'appProtocol: Forbidden: This field can be enabled with the ServiceAppProtocol feature gate'
const without = (release: number) => contextFor({ release, feature: () => false })
const appProtocols = (errors: readonly { field: string; message: string }[] = []) =>
  errors
    .map(({ field, message }) => `${field}: ${message}`)
    .filter((one) => /appProtocol/.test(one))
for (const [release, had, wanted] of [
  [18, false, off],
  [19, false, off],
  [18, true, 'name part must consist of'],
  [20, false, 'name part must consist of'],
] as const) {
  test(`1.${release}: ports${had ? ' that did' : ''} name protocols`, () => {
    const context = without(release)
    const objects = [
      [olderServiceBehaviour, named({ spec: { type: 'ClusterIP', ports: [port] } })],
      [endpointsBehaviour, named({ subsets })],
    ] as const
    for (const [behaviour, object] of objects) {
      const before = had ? object : named({ spec: {} })
      const made = appProtocols(behaviour.validateCreate?.(object, context))
      const changed = appProtocols(behaviour.validateUpdate?.(object, before, context))
      assert.ok(changed[0]?.includes(wanted), changed[0])
      if (!had) assert.ok(made[0]?.includes(wanted), made[0])
    }
  })
}

const huge = (name: string) => ({
  name,
  image: 'i',
  resources: { limits: { [`hugepages-${name}`]: '1' } },
})
test('sizes of huge pages are listed since 1.18', () => {
  for (const [release, shown] of [
    [17, 'sets.String{"hugepages-1Gi":sets.Empty{}, "hugepages-2Mi":sets.Empty{}}'],
    [18, '[]string{"hugepages-1Gi", "hugepages-2Mi"}'],
  ] as const) {
    const object = inDefault({ spec: { containers: [huge('2Mi'), huge('1Gi')] } })
    const errors = podBehaviour.validateCreate?.(object, without(release)) ?? []
    const words = errors
      .map(({ message }) => message)
      .find((one) => one.includes('single hugepage'))
    assert.equal(words, `Invalid value: ${shown}: must use a single hugepage size in a pod spec`)
  }
})

interface Dropped {
  readonly what: string
  readonly behaviour: Behaviour
  readonly object: () => KubeObject
  readonly at: (object: KubeObject) => unknown
  readonly gate: string
  readonly release: number
  readonly kept: unknown
  /** The remaining fields while the feature is off. */
  readonly left?: unknown
}
const ranges = ['10.1.0.0/24', 'fd00::/64']
const tokenRequests = [{ audience: 'a' }]
const droppedFields: readonly Dropped[] = [
  ...[configMapBehaviour, secretBehaviour].map((behaviour, i) => ({
    what: i === 0 ? 'a config map' : 'a secret',
    behaviour,
    object: () => inDefault({ immutable: true, type: 'Opaque' }),
    at: ({ immutable }: KubeObject) => immutable,
    gate: 'ImmutableEphemeralVolumes',
    release: 18,
    kept: true,
  })),
  {
    what: 'the second range of a node',
    behaviour: nodeBehaviour,
    object: () => named({ spec: { podCIDR: ranges[0], podCIDRs: ranges } }),
    at: ({ spec }) => spec.podCIDRs,
    gate: 'IPv6DualStack',
    release: 16,
    kept: ranges,
    left: ranges.slice(0, 1),
  },
  {
    what: 'the family of a service',
    behaviour: olderServiceBehaviour,
    object: () => inDefault({ spec: { type: 'ClusterIP', ipFamily: 'IPv6', ports: [] } }),
    at: ({ spec }) => spec.ipFamily,
    gate: 'IPv6DualStack',
    release: 19,
    kept: 'IPv6',
  },
  {
    what: 'the tokens of a storage driver',
    behaviour: csiDriverBehaviour,
    object: () => named({ spec: { tokenRequests } }),
    at: ({ spec }) => spec.tokenRequests,
    gate: 'CSIServiceAccountToken',
    release: 20,
    kept: tokenRequests,
  },
  {
    what: 'the node of an endpoint',
    behaviour: endpointSliceBehaviour,
    object: () => inDefault({ addressType: 'IPv4', endpoints: [{ nodeName: 'n' }] }),
    at: ({ endpoints: [one] }) => one.nodeName,
    gate: 'EndpointSliceNodeName',
    release: 20,
    kept: 'n',
  },
]
for (const { what, behaviour, object, at, gate, release, kept, left } of droppedFields) {
  test(`1.${release}: ${what} waits for ${gate}, and stays where it was`, () => {
    const off = contextFor({ release, feature: () => false })
    const on = contextFor({ release, feature: (one) => one === gate })
    const plain = inDefault({ spec: {}, status: {}, type: 'Opaque' })
    const prepared = (old: KubeObject, context: Context) => {
      const next = object()
      behaviour.prepareForUpdate?.(next, old, context)
      return at(next)
    }
    assert.deepEqual(prepared(plain, off), left)
    assert.deepEqual(prepared(plain, on), kept)
    assert.deepEqual(prepared(object(), off), kept)
    const made = object()
    behaviour.prepareForCreate?.(made, off)
    assert.deepEqual(at(made), left)
  })
}

const slice = (addressType: string, address: string, ports = 0) =>
  inDefault({
    addressType,
    endpoints: [{ addresses: [address] }],
    ports: Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, protocol: 'TCP' })),
  })
const release17 = contextFor({ release: 17 })
const release18 = contextFor({ release: 18 })
const loopback = 'may not be in the loopback range (127.0.0.0/8, ::1/128)'
checkCreate(endpointSliceBehaviour, [
  ['1.17: an address of the node itself', slice('IPv4', '127.0.0.1'), [], release17],
  [
    '1.18: an address of the node itself',
    slice('IPv4', '127.0.0.1'),
    [`endpoints[0].addresses[0]: Invalid value: "127.0.0.1": ${loopback}`],
    release18,
  ],
  [
    '1.17: many ports',
    slice('IPv4', '10.0.0.1', 101),
    ['ports: Too many: 101: must have at most 100 items'],
    release17,
  ],
  ['1.18: many ports', slice('IPv4', '10.0.0.1', 101), [], release18],
])
checkUpdate(endpointSliceBehaviour, [
  [
    '1.18: addresses of any family',
    slice('IP', '10.0.0.1'),
    slice('IP', 'a'),
    [
      'endpoints[0].addresses[0]: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    release18,
  ],
  [
    '1.20: addresses of any family',
    slice('IP', '10.0.0.1'),
    slice('IP', '10.0.0.1'),
    ['addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"'],
    contextFor({ release: 20 }),
  ],
])

const wrongPod = (annotations?: Loose) => {
  const made = inDefault({ spec: { containers: [] } })
  return { ...made, metadata: { ...made.metadata, annotations } }
}
test('changes in a pod were reported after its errors', () => {
  const fields = (release: number) =>
    podBehaviour
      .validateUpdate?.(wrongPod({ 'a b': '' }), wrongPod(), contextFor({ release }))
      .map(({ field }) => field)
      .filter((field) => field === 'spec.containers' || field === 'metadata.annotations')
  const twice = ['metadata.annotations', 'metadata.annotations']
  assert.deepEqual(fields(18), [twice[0], 'spec.containers', twice[1]])
  assert.deepEqual(fields(19), [...twice, 'spec.containers'])
})

const sending = (path: Loose) => inDefault({ spec: { rules: [{}, { http: { paths: [path] } }] } })
const byService = { service: { name: 's', port: { number: 80 } } }
const anyPath = { pathType: 'ImplementationSpecific' }
const firstPath = 'spec.rules[0].http.paths[0]'
const onlyServices = 'not supported; only service backends are supported in this version'
checkCreate(ingressBehaviour, [
  ['1.18: a service', sending({ ...anyPath, backend: byService }), [], release18],
  [
    '1.18: an object that is not a service',
    sending({ ...anyPath, backend: { resource: { kind: 'k', name: 'n' } } }),
    [`${firstPath}.backend.resource: Forbidden: ${onlyServices}`],
    release18,
  ],
  [
    '1.18: an invalid regular expression',
    sending({ pathType: 'Exact', path: '/a//(', backend: {} }),
    [
      `${firstPath}.path: Invalid value: "/a//(": must not contain '//'`,
      `${firstPath}.path: Invalid value: "/a//(": must be a valid regex`,
      `${firstPath}.backend.serviceName: Required value`,
    ],
    release18,
  ],
])
checkUpdate(ingressBehaviour, [
  [
    '1.18: what was there before',
    sending({ ...anyPath, path: '/(', backend: { resource: { kind: 'k', name: 'n' } } }),
    sending({ ...anyPath, path: '/[', backend: { resource: { kind: 'k', name: 'm' } } }),
    [],
    release18,
  ],
])

const probed = { name: 'p', image: 'i:1', livenessProbe: {}, imagePullPolicy: 'Always' }
const escalating = { privileged: true, allowPrivilegeEscalation: false }
const strict = { ...probed, name: 's', securityContext: escalating }
test('parts of pods are shown with the fields of the release', () => {
  const text = (release: number) =>
    (
      podBehaviour.validateCreate?.(
        inDefault({ spec: { initContainers: [strict] } }),
        contextFor({ release }),
      ) ?? []
    )
      .map((error) => JSON.stringify(error))
      .join()
  assert.doesNotMatch(text(18), /SeccompProfile/)
  assert.match(text(19), /SeccompProfile/)
  assert.doesNotMatch(text(20), /TerminationGracePeriodSeconds/)
  assert.match(text(21), /FailureThreshold:0, TerminationGracePeriodSeconds/)
})

const halfPages = {
  name: 'c',
  image: 'i:1',
  imagePullPolicy: 'Always',
  terminationMessagePolicy: 'File',
  resources: {
    limits: { 'hugepages-2Mi': '3Mi', cpu: '1' },
    requests: { 'hugepages-2Mi': '3Mi', cpu: '1' },
  },
}
test('before 1.21 half a huge page may be requested', () => {
  const count = (release: number) =>
    podBehaviour
      .validateCreate?.(inDefault({ spec: { containers: [halfPages] } }), contextFor({ release }))
      .filter(({ message }) => message.includes('multiple')).length
  assert.deepEqual([15, 20, 21].map(count), [0, 0, 2])
})

test('huge pages of several sizes were reported twice for a while', () => {
  const pages = { 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi', cpu: '1' }
  const container = { ...halfPages, resources: { limits: pages, requests: pages } }
  const made = () => inDefault({ spec: { containers: [container] } })
  const count = (release: number) =>
    podBehaviour
      .validateUpdate?.(made(), made(), contextFor({ release, feature: () => false }))
      .filter(({ message }) => message.includes('single hugepage')).length
  assert.deepEqual([17, 18, 21, 22].map(count), [1, 2, 2, 1])
})
