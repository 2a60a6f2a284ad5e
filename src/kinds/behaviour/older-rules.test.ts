/** Rules that the oldest releases have in another form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts'
import { checkCreate, checkUpdate, contextFor, inDefault, named } from './behaviour.suite.ts'
import { node } from './cluster/node.ts'
import { priorityClass } from './cluster/priority-class.ts'
import { service } from './services/service.ts'
import { replicationController } from './workloads/replica-set.ts'

const old = contextFor({ release: 15 })

checkCreate(node, [
  ['one range', named({ spec: { podCIDR: '10.0.0.0/24' } }), [], old],
  [
    'one range that is none',
    named({ spec: { podCIDR: 'b' } }),
    ['spec.podCIDR: Invalid value: "b": not a valid CIDR'],
    old,
  ],
])
checkUpdate(node, [
  [
    'one range that changes',
    named({ spec: { podCIDR: '10.0.0.0/24' } }),
    named({ spec: { podCIDR: '10.0.1.0/24' } }),
    ['spec.podCIDR: Forbidden: node updates may not change podCIDR except from "" to valid'],
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
checkCreate(horizontalPodAutoscaler, [
  [
    'a metric is where its type says, in small letters',
    scaler({ type: 'Foo', resource }),
    [
      unsupported,
      'spec.metrics[0].foo: Required value: must populate information for the given metric source',
    ],
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
checkCreate(replicationController, [
  [
    'a selector with a label that is none selects nothing',
    controller({ app: 'web', memory: '/x' }),
    ['spec.selector: Required value'],
    old,
  ],
  ['a selector of labels', controller({ app: 'web' }), [], old],
])

test('how a class preempts is not kept before it can be said', () => {
  const kept = (gates: string[], before?: Loose) => {
    const next = named({ value: 1, preemptionPolicy: 'Never' })
    const context = contextFor({ release: 15 }, gates)
    if (before === undefined) priorityClass.prepareForCreate?.(next, context)
    else priorityClass.prepareForUpdate?.(next, named(before), context)
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
checkCreate(service, [
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
    'a load balancer of a protocol nobody knows',
    balanced('ODD'),
    [
      'spec.ports[0].protocol: Unsupported value: "ODD": supported values: "SCTP", "TCP", "UDP"',
      'spec.ports[0].protocol: Invalid value: "ODD": cannot create an external load balancer with non-TCP/UDP/SCTP ports',
    ],
    old,
  ],
])
