import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { olderServiceBehaviour } from './older-behaviour.ts'

const context = contextFor({}, ['IPv6DualStack'])
const port = { port: 80, protocol: 'TCP', targetPort: 80 }
const withSpec = (spec: Loose) =>
  inDefault({ spec: { type: 'ClusterIP', sessionAffinity: 'None', ports: [port], ...spec } })
const servicePort = (number: number) =>
  `core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:${number}, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}`

checkCreate(olderServiceBehaviour, [
  ['a plain one', withSpec({}), []],
  ['ports are needed', withSpec({ ports: [] }), ['spec.ports: Required value']],
  [
    'but not without an address',
    withSpec({ ports: [], clusterIP: 'None', clusterIPs: ['None'] }),
    [],
  ],
  [
    'no port twice',
    withSpec({
      ports: [
        { ...port, name: 'a' },
        { ...port, name: 'b' },
      ],
    }),
    [`spec.ports[1]: Duplicate value: ${servicePort(80)}`],
  ],
  [
    'several ports have names',
    withSpec({ ports: [port, { ...port, port: 81 }] }),
    ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
  ],
  [
    'node ports lead from outside',
    withSpec({ ports: [{ ...port, nodePort: 30000 }] }),
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    'the kubelet’s port stays inside',
    withSpec({ type: 'LoadBalancer', ports: [{ ...port, port: 10250 }] }),
    [
      'spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet',
    ],
  ],
  [
    'an external name is all such a service has',
    withSpec({ type: 'ExternalName', ports: [], clusterIP: '1.2.3.4', clusterIPs: ['1.2.3.4'] }),
    [
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      'spec.externalName: Required value',
    ],
  ],
  [
    'addresses and families agree',
    withSpec({ clusterIP: 'fd00::1', clusterIPs: ['fd00::1', 'x'], ipFamilies: ['IPv4', 'IPv4'] }),
    [
      'spec.ipFamilies[1]: Duplicate value: "IPv4"',
      'spec.clusterIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    'an address of the other family',
    withSpec({ clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilies: ['IPv4'] }),
    [
      'spec.clusterIPs[0]: Invalid value: "fd00::1": expected an IPv4 value as indicated by `ipFamilies[0]`',
    ],
  ],
  [
    'one protocol per load balancer',
    withSpec({
      type: 'LoadBalancer',
      ports: [
        { ...port, name: 'a' },
        { ...port, name: 'b', port: 81, protocol: 'UDP' },
      ],
    }),
    [
      'spec.ports: Invalid value: []core.ServicePort{core.ServicePort{Name:"a", Protocol:"TCP", AppProtocol:(*string)(nil), Port:80, TargetPort:intstr.IntOrString{Type:0, IntVal:80, StrVal:""}, NodePort:0}, core.ServicePort{Name:"b", Protocol:"UDP", AppProtocol:(*string)(nil), Port:81, TargetPort:intstr.IntOrString{Type:0, IntVal:80, StrVal:""}, NodePort:0}}: may not contain more than 1 protocol when type is \'LoadBalancer\'',
    ],
  ],
  [
    'source ranges',
    withSpec({ loadBalancerSourceRanges: ['x', '10.0.0.0/8'] }),
    [
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'spec.LoadBalancerSourceRanges: Invalid value: "[x 10.0.0.0/8]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
    ],
  ],
])

const allocated = withSpec({
  clusterIP: '10.0.0.1',
  clusterIPs: ['10.0.0.1'],
  ipFamilies: ['IPv4'],
})
checkUpdate(olderServiceBehaviour, [
  [
    'an address stays',
    allocated,
    withSpec({ clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'], ipFamilies: ['IPv4'] }),
    ['spec.clusterIPs[0]: Invalid value: []string{"10.0.0.2"}: may not change once set'],
  ],
  [
    'before 1.20 it was one field',
    withSpec({ clusterIP: '10.0.0.1' }),
    withSpec({ clusterIP: '10.0.0.2' }),
    ['spec.clusterIP: Invalid value: "10.0.0.2": field is immutable'],
    contextFor({ release: 15 }),
  ],
])

/** The spec after an update. */
function prepared(old: Loose, next: Loose): Loose {
  const object = withSpec(next)
  olderServiceBehaviour.prepareForUpdate?.(object, withSpec(old), context)
  return object.spec
}

test('an update without allocated values keeps them', () => {
  const ports = [{ ...port, name: 'a', nodePort: 30001 }]
  const spec = prepared(
    { type: 'NodePort', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports },
    { type: 'NodePort', ports: [{ ...port, name: 'a' }] },
  )
  assert.deepEqual(spec.clusterIPs, ['10.0.0.1'])
  assert.equal(spec.clusterIP, '10.0.0.1')
  assert.equal(spec.ports[0].nodePort, 30001)
})

test('a node port that another port uses is not kept', () => {
  const old = { type: 'NodePort', ports: [{ ...port, name: 'a', nodePort: 30001 }] }
  const ports = [
    { ...port, name: 'b', nodePort: 30001 },
    { ...port, name: 'a', port: 81 },
  ]
  assert.equal(prepared(old, { type: 'NodePort', ports }).ports[1].nodePort, undefined)
})

test('a service that becomes ExternalName loses its addresses', () => {
  const addresses = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] }
  const spec = prepared(addresses, { ...addresses, type: 'ExternalName', externalName: 'x.y' })
  assert.deepEqual(
    [spec.clusterIP, spec.clusterIPs, spec.ipFamilies],
    [undefined, undefined, undefined],
  )
})

test('a service that becomes internal loses its node ports, and its traffic policy after validation', () => {
  const ports = [{ ...port, nodePort: 30001 }]
  const old = {
    type: 'LoadBalancer',
    ports,
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 7,
  }
  const spec = prepared(old, { ...old, type: 'ClusterIP' })
  assert.deepEqual(spec.ports, [port])
  assert.equal(spec.externalTrafficPolicy, 'Local')
  assert.equal(spec.healthCheckNodePort, undefined)
})

test('fields that a service no longer needs are validated if they change', () => {
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 7 }
  const next = withSpec({
    ...local,
    type: 'a',
    externalTrafficPolicy: 'b',
    healthCheckNodePort: -1,
  })
  const old = withSpec(local)
  olderServiceBehaviour.prepareForUpdate?.(next, old, context)
  const lines = linesOf(olderServiceBehaviour.validateUpdate?.(next, old, context) ?? [])
  assert.deepEqual(lines.slice(-2), [
    'spec.externalTrafficPolicy: Invalid value: "b": ExternalTrafficPolicy must be empty, Cluster or Local',
    'spec.healthCheckNodePort: Invalid value: -1: HealthCheckNodePort must be not less than 0',
  ])
})

test('leaving dual-stack drops the second family', () => {
  const old = {
    ipFamilyPolicy: 'PreferDualStack',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
  }
  const spec = prepared(old, { ...old, ipFamilyPolicy: 'SingleStack' })
  assert.deepEqual(spec.clusterIPs, ['10.0.0.1'])
  assert.deepEqual(spec.ipFamilies, ['IPv4'])
})

test('before 1.20 a load balancer with two protocols had another message', () => {
  const two = withSpec({
    type: 'LoadBalancer',
    ports: [
      { ...port, name: 'a' },
      { ...port, name: 'b', protocol: 'UDP' },
    ],
  })
  const told = (release: number) =>
    linesOf(olderServiceBehaviour.validateCreate?.(two, { ...context, release }) ?? [])
      .join()
      .replace(/Invalid value: .*}: /, '')
  assert.equal(told(19), 'spec.ports: cannot create an external load balancer with mix protocols')
  assert.equal(
    told(22),
    "spec.ports: may not contain more than 1 protocol when type is 'LoadBalancer'",
  )
})

test('fields of disabled features are dropped, unless they were used', () => {
  const object = withSpec({ internalTrafficPolicy: 'Local', loadBalancerClass: 'x' })
  olderServiceBehaviour.prepareForCreate?.(object, context)
  assert.equal(object.spec.internalTrafficPolicy, undefined)
  const kept = prepared({ internalTrafficPolicy: 'Local' }, { internalTrafficPolicy: 'Local' })
  assert.equal(kept.internalTrafficPolicy, 'Local')
})

test('the addresses of a load balancer are validated in the status', () => {
  const ingress = [{ ip: 'x' }, { hostname: '1.2.3.4' }]
  const object = inDefault({ status: { loadBalancer: { ingress } } })
  const errors =
    olderServiceBehaviour.subresources?.status?.validateUpdate?.(object, object, context) ?? []
  assert.deepEqual(linesOf(errors), [
    'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address',
    'status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ])
})

test('the status of a load balancer stays when the type changes', () => {
  const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }
  const old = { ...withSpec({ type: 'LoadBalancer' }), status }
  const next = withSpec({ type: 'ClusterIP' })
  olderServiceBehaviour.prepareForUpdate?.(next, old, context)
  assert.deepEqual(next.status, status)
})
