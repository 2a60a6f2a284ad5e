import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { behaviourOfRelease } from '#kinds/behaviour-of-release.ts'
import { serviceBehaviour } from './behaviour.ts'
import { service } from './service.ts'

const gates = ['IPv6DualStack', 'ServiceInternalTrafficPolicy', 'MixedProtocolLBService']
const newest = [
  ...gates,
  'PreferSameTrafficDistribution',
  'RelaxedServiceNameValidation',
  'ServiceTrafficDistribution',
  'StrictIPCIDRValidation',
  'LoadBalancerIPMode',
]
const context = contextFor({ release: 37 }, newest)
const port = { port: 80, protocol: 'TCP', targetPort: 80 }
const withSpec = (spec: Loose, meta: Loose = {}) =>
  inDefault(
    {
      spec: {
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
        ports: [port],
        ...spec,
      },
    },
    meta,
  )
const balancer = (spec: Loose) =>
  withSpec({ type: 'LoadBalancer', externalTrafficPolicy: 'Cluster', ...spec })

checkCreate(serviceBehaviour, [
  ['a plain one', withSpec({}), [], context],
  [
    'addresses are checked with their families',
    withSpec({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'], ipFamilies: ['IPv6', 'x'] }),
    [
      'spec.clusterIPs: Invalid value: []string{"10.0.0.2"}: first value must match `clusterIP`',
      'spec.ipFamilies[1]: Unsupported value: "x": supported values: "IPv4", "IPv6"',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.2": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ],
    context,
  ],
  [
    'a health check port belongs to a balancer of local traffic',
    withSpec({ healthCheckNodePort: 7 }),
    [
      "spec.healthCheckNodePort: Invalid value: 7: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
    context,
  ],
  [
    'traffic is distributed in few ways',
    withSpec({ trafficDistribution: 'Far' }),
    [
      'spec.trafficDistribution: Unsupported value: "Far": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
    context,
  ],
])

const two = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] }
const both = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }
checkUpdate(serviceBehaviour, [
  [
    'a second address is released with the policy',
    withSpec({ ...two, ...both }),
    withSpec({ ...two, clusterIPs: ['10.0.0.1'], ...both, ipFamilies: ['IPv4'] }),
    [
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
    ],
    context,
  ],
  [
    'a health check port stays',
    balancer({
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30001,
      allocateLoadBalancerNodePorts: true,
    }),
    balancer({
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30002,
      allocateLoadBalancerNodePorts: true,
    }),
    ['spec.healthCheckNodePort: Forbidden: field is immutable'],
    context,
  ],
  [
    'an address that was accepted once stays',
    withSpec({ clusterIP: '010.0.0.1', clusterIPs: ['010.0.0.1'], ipFamilies: ['IPv4'] }),
    withSpec({ clusterIP: '010.0.0.1', clusterIPs: ['010.0.0.1'], ipFamilies: ['IPv4'] }),
    [],
    context,
  ],
])

/** The errors of a new object in each release. */
function check(object: KubeObject, release: number, features = gates): string {
  const behaviour = behaviourOfRelease(service, 'core/service', release)
  const errors = behaviour.validateCreate?.(
    structuredClone(object),
    contextFor({ release }, features),
  )
  return linesOf(errors ?? []).join('; ')
}

const hints = 'service.kubernetes.io/topology-aware-hints'
const mode = 'service.kubernetes.io/topology-mode'
const topology = withSpec({}, { annotations: { [hints]: 'a', [mode]: 'b' } })
const external = withSpec({ externalIPs: ['1.2.3.4'], externalTrafficPolicy: 'Local' })
const ranges = balancer({
  allocateLoadBalancerNodePorts: true,
  loadBalancerSourceRanges: ['x', ' 10.0.0.0/8 '],
})
const rows: [title: string, object: KubeObject, release: number, expected: string][] = [
  ['topology annotations can differ', topology, 26, ''],
  [
    'topology annotations agree',
    topology,
    27,
    `metadata.annotations[${mode}]: Invalid value: "b": must match annotations[${hints}] when both are specified`,
  ],
  [
    'external addresses take no traffic policy',
    external,
    28,
    "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set when `type` is 'NodePort' or 'LoadBalancer'",
  ],
  ['external addresses take a traffic policy', external, 29, ''],
  [
    'no address from outside has a policy',
    withSpec({ externalTrafficPolicy: 'Local' }),
    29,
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ],
  [
    'ranges are one value',
    ranges,
    29,
    'spec.LoadBalancerSourceRanges: Invalid value: "[x  10.0.0.0/8 ]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
  ],
  [
    'each range is a value',
    ranges,
    30,
    'spec.LoadBalancerSourceRanges[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ],
  [
    'the port of the kubelet is taken',
    balancer({ allocateLoadBalancerNodePorts: true, ports: [{ ...port, port: 10250 }] }),
    32,
    'spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet',
  ],
  [
    'the port of the kubelet is a port',
    balancer({ allocateLoadBalancerNodePorts: true, ports: [{ ...port, port: 10250 }] }),
    33,
    '',
  ],
  [
    'external names need a policy for traffic within',
    withSpec({
      type: 'ExternalName',
      externalName: 'a.b',
      internalTrafficPolicy: undefined,
      ports: [],
    }),
    23,
    'spec.internalTrafficPolicy: Required value',
  ],
  [
    'external names need none',
    withSpec({
      type: 'ExternalName',
      externalName: 'a.b',
      internalTrafficPolicy: undefined,
      ports: [],
    }),
    24,
    '',
  ],
  [
    'the rules of 1.22',
    withSpec({ externalTrafficPolicy: 'x' }),
    22,
    'spec.externalTrafficPolicy: Invalid value: "x": ExternalTrafficPolicy must be empty, Cluster or Local',
  ],
  [
    'the rules since 1.23',
    withSpec({ externalTrafficPolicy: 'x' }),
    23,
    "spec.externalTrafficPolicy: Invalid value: \"x\": may only be set when `type` is 'NodePort' or 'LoadBalancer'",
  ],
]
for (const [title, object, release, expected] of rows) {
  test(`1.${release}: ${title}`, () => assert.equal(check(object, release), expected))
}

test('an update validates the name again up to 1.33', () => {
  const bad = withSpec({}, { name: '1a' })
  const count = (release: number) =>
    serviceBehaviour.validateUpdate?.(bad, bad, contextFor({ release }, gates)).length
  assert.deepEqual([count(33), count(34)], [1, 0])
})

test('unchanged annotations of source ranges are kept since 1.33', () => {
  const annotations = { 'service.beta.kubernetes.io/load-balancer-source-ranges': 'x' }
  const old = balancer({ allocateLoadBalancerNodePorts: true })
  old.metadata.annotations = annotations
  const count = (release: number) =>
    serviceBehaviour.validateUpdate?.(old, old, contextFor({ release }, gates)).length
  assert.deepEqual([count(32), count(33)], [1, 0])
})

/** The spec after an update. */
function prepared(old: Loose, next: Loose, release = 37): KubeObject {
  const object = withSpec(next)
  const before = { ...withSpec(old), status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } }
  serviceBehaviour.prepareForUpdate?.(object, before, contextFor({ release }, newest))
  return object
}

test('a service that becomes internal loses fields of other types, unless the client changed them too', () => {
  const ports = [{ ...port, nodePort: 30001 }]
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 30002 }
  const old = { type: 'LoadBalancer', ports, ...local, loadBalancerClass: 'a/b' }
  const { spec, status } = prepared(old, { ...old, type: 'ClusterIP' })
  assert.deepEqual(spec.ports, [port])
  assert.equal(spec.externalTrafficPolicy, undefined)
  assert.equal(spec.healthCheckNodePort, undefined)
  assert.equal(spec.loadBalancerClass, undefined)
  assert.deepEqual(status, { loadBalancer: {} })
  const changed = prepared(old, { ...old, type: 'ClusterIP', externalTrafficPolicy: 'Cluster' })
  assert.equal(changed.spec.externalTrafficPolicy, 'Cluster')
})

test('external addresses keep the traffic policy since 1.29', () => {
  const old = { type: 'NodePort', externalTrafficPolicy: 'Local', externalIPs: ['1.2.3.4'] }
  const policy = (release: number) =>
    prepared(old, { ...old, type: 'ClusterIP' }, release).spec.externalTrafficPolicy
  assert.deepEqual([policy(28), policy(29)], [undefined, 'Local'])
})

/** The errors of a status, and its warnings. */
function statusOf(ingress: Loose[], type: string, release: number, features = newest) {
  const object = { ...withSpec({ type }), status: { loadBalancer: { ingress } } }
  const rules = serviceBehaviour.subresources?.status
  const given = contextFor({ release }, features)
  return [
    linesOf(rules?.validateUpdate?.(object, object, given) ?? []).join('; '),
    (rules?.warningsOnUpdate?.(object, object, given) ?? []).join('; '),
  ]
}

test('the status of load balancers', () => {
  const path = 'status.loadBalancer.ingress'
  const only = `${path}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`
  assert.deepEqual(statusOf([{ hostname: 'a' }], 'ClusterIP', 28), ['', ''])
  assert.deepEqual(statusOf([{ hostname: 'a' }], 'ClusterIP', 29), [only, ''])
  const plain = `${path}[0].ip: Invalid value: "x": must be a valid IP address`
  assert.equal(statusOf([{ ip: 'x' }], 'LoadBalancer', 29, gates)[0], plain)
  assert.equal(statusOf([{ ip: 'x' }], 'LoadBalancer', 30, gates)[0], '')
  const old = [{ ip: '010.1.1.1', ipMode: 'VIP' }]
  assert.equal(statusOf(old, 'LoadBalancer', 32, gates)[1], '')
  const usual = `${path}[0]: non-standard IP address "010.1.1.1" is invalid: use "10.1.1.1"`
  assert.equal(statusOf(old, 'LoadBalancer', 33, gates)[1], usual)
  const mode = `${path}[0].ipMode: Unsupported value: "x": supported values: "Proxy", "VIP"`
  assert.equal(statusOf([{ ip: '1.1.1.1', ipMode: 'x' }], 'LoadBalancer', 37)[0], mode)
  const needed = `${path}[0].ipMode: Required value: must be specified when \`ip\` is set`
  assert.equal(statusOf([{ ip: '1.1.1.1' }], 'LoadBalancer', 37)[0], needed)
})
