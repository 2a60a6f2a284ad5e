import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { rememberEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import { rememberText, textWritten } from '#api/written-text.ts'
import type { DefaultsContext } from './defaulter.ts'
import { allDefaults } from './rules.fixture.ts'

const at = (release: number, ...features: string[]): DefaultsContext => ({
  release,
  feature: (gate) => features.includes(gate),
})

/** The type, the written object, the result. */
type Case = [string, Loose, Loose, DefaultsContext?]
const cases: Case[] = [
  ['core.v1.Secret', { stringData: { a: 'é' } }, { type: 'Opaque', data: { a: 'w6k=' } }],
  ['auditregistration.v1alpha1.Webhook', {}, { throttle: { qps: 10, burst: 15 } }, at(15)],
  [
    'auditregistration.v1alpha1.Webhook',
    { throttle: { qps: 1 } },
    { throttle: { qps: 1, burst: 15 } },
    at(15),
  ],
  [
    'core.v1.Secret',
    { data: { a: 'AA==' }, stringData: { a: 'b' } },
    { type: 'Opaque', data: { a: 'Yg==' } },
  ],
  [
    'core.v1.Namespace',
    { metadata: { name: 'a' } },
    { metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } } },
    at(21, 'NamespaceDefaultLabelName'),
  ],
  ['core.v1.Namespace', { metadata: { name: 'a' } }, { metadata: { name: 'a' } }, at(20)],
  ['core.v1.NodeSpec', { podCIDR: 'a' }, { podCIDR: 'a', podCIDRs: ['a'] }],
  ['core.v1.NodeSpec', { podCIDRs: ['a', 'b'] }, { podCIDR: 'a', podCIDRs: ['a', 'b'] }],
  ['core.v1.NodeSpec', { podCIDR: 'a' }, { podCIDR: 'a' }, at(15)],
  ['core.v1.ResourceQuotaSpec', { hard: { cpu: '1n' } }, { hard: { cpu: '1m' } }],
  [
    'core.v1.NodeStatus',
    { capacity: { cpu: '1' } },
    { capacity: { cpu: '1' }, allocatable: { cpu: '1' } },
  ],
  [
    'core.v1.LimitRangeItem',
    { type: 'Container', max: { cpu: '2' }, min: { memory: '1' } },
    {
      type: 'Container',
      max: { cpu: '2' },
      min: { memory: '1' },
      default: { cpu: '2' },
      defaultRequest: { cpu: '2', memory: '1' },
    },
  ],
  ['core.v1.ResourceQuotaSpec', { hard: { cpu: '1u' } }, { hard: { cpu: '1m' } }],
  [
    'core.v1.Service',
    { spec: { type: 'LoadBalancer', ports: [{ port: 80 }], sessionAffinity: 'ClientIP' } },
    {
      spec: {
        type: 'LoadBalancer',
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
        allocateLoadBalancerNodePorts: true,
      },
    },
    at(22, 'ServiceInternalTrafficPolicy', 'ServiceLBNodePortControl'),
  ],
  ['core.v1.Service', {}, { spec: { sessionAffinity: 'None', type: 'ClusterIP' } }, at(15)],
  [
    'core.v1.PersistentVolume',
    {},
    {
      status: { phase: 'Pending' },
      spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
    },
  ],
  ['discovery.v1.EndpointPort', {}, { name: '', protocol: 'TCP' }],
  [
    'networking.v1.NetworkPolicy',
    { spec: { egress: [{}] } },
    { spec: { egress: [{}], policyTypes: ['Ingress', 'Egress'] } },
  ],
  ['networking.v1beta1.HTTPIngressPath', {}, { pathType: 'ImplementationSpecific' }],
  ['networking.v1beta1.HTTPIngressPath', {}, {}, at(17)],
  ['autoscaling.v1.HorizontalPodAutoscaler', {}, { spec: { minReplicas: 1 } }],
  [
    'autoscaling.v2beta1.HorizontalPodAutoscaler',
    {},
    {
      spec: {
        minReplicas: 1,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 80 } }],
      },
    },
  ],
  [
    'autoscaling.v2beta2.HorizontalPodAutoscalerBehavior',
    { scaleUp: { selectPolicy: 'Min' } },
    {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Min',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: {
        selectPolicy: 'Max',
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      },
    },
  ],
  [
    'autoscaling.v2beta2.HorizontalPodAutoscalerBehavior',
    { scaleUp: { policies: [], selectPolicy: 'Min' }, scaleDown: { selectPolicy: 'Min' } },
    {
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Min', policies: [] },
      scaleDown: {
        stabilizationWindowSeconds: null,
        selectPolicy: 'Min',
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      },
    },
    at(19),
  ],
  [
    'scheduling.v1.PriorityClass',
    {},
    { preemptionPolicy: 'PreemptLowerPriority' },
    at(19, 'NonPreemptingPriority'),
  ],
  ['scheduling.v1.PriorityClass', {}, {}, at(18)],
  ['scheduling.v1beta1.PodGroup', {}, {}, at(37)],
  [
    'scheduling.v1beta1.PodGroup',
    {},
    { spec: { preemptionPolicy: 'PreemptLowerPriority' } },
    at(37, 'PodGroupPreemptionPolicy'),
  ],
  ['storage.v1.CSIDriverSpec', {}, { attachRequired: true, podInfoOnMount: false }, at(15)],
  [
    'storage.v1.CSIDriverSpec',
    {},
    { attachRequired: true, podInfoOnMount: false, requiresRepublish: false },
    at(22, 'CSIServiceAccountToken'),
  ],
  ['core.v1.EphemeralContainer', { name: 'c' }, { name: 'c' }, at(19)],
  [
    'core.v1.EphemeralContainer',
    { name: 'c', image: 'i:1' },
    {
      name: 'c',
      image: 'i:1',
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
    at(20),
  ],
  ['rbac.v1.RoleBinding', {}, { roleRef: { apiGroup: 'rbac.authorization.k8s.io' } }],
  ['rbac.v1.Subject', { kind: 'User' }, { kind: 'User', apiGroup: 'rbac.authorization.k8s.io' }],
  [
    'rbac.v1alpha1.Subject',
    { kind: 'ServiceAccount' },
    { kind: 'ServiceAccount', apiVersion: 'v1' },
  ],
  [
    'certificates.v1beta1.CertificateSigningRequestSpec',
    {},
    {
      usages: ['digital signature', 'key encipherment'],
      signerName: 'kubernetes.io/legacy-unknown',
    },
  ],
  [
    'admissionregistration.v1beta1.MutatingWebhook',
    {},
    {
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 30,
      reinvocationPolicy: 'Never',
      sideEffects: 'Unknown',
      admissionReviewVersions: ['v1beta1'],
    },
  ],
  [
    'admissionregistration.v1.ValidatingWebhook',
    {},
    {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
    },
  ],
  [
    'flowcontrol.v1beta1.QueuingConfiguration',
    { queues: 2 },
    { queues: 2, handSize: 8, queueLengthLimit: 50 },
  ],
]
for (const [type, written, expected, context = at(22)] of cases) {
  test(`${type} ${JSON.stringify(written)} in 1.${context.release}`, () => {
    const value = structuredClone(written)
    const set = allDefaults[`io.k8s.api.${type}`]
    assert.ok(set)
    set(value, context)
    assert.deepEqual(value, expected)
    set(value, context)
    assert.deepEqual(value, expected, 'defaults are filled in once')
  })
}

test('keys of a secret may be any text', () => {
  const value = JSON.parse('{"stringData":{"__proto__":"x"}}')
  allDefaults['io.k8s.api.core.v1.Secret']?.(value, at(22))
  assert.deepEqual(Object.keys(value.data), ['__proto__'])
})

test('empty usages get no default', () => {
  const value: Loose = {}
  rememberEmpty(value, 'usages')
  allDefaults['io.k8s.api.certificates.v1beta1.CertificateSigningRequestSpec']?.(value, at(21))
  assert.equal(value.usages, undefined)
})

test('empty labels of a template yield an empty selector', () => {
  for (const type of ['apps.v1beta1.Deployment', 'extensions.v1beta1.DaemonSet']) {
    const value: Loose = { metadata: {}, spec: { template: { metadata: {} } } }
    rememberEmpty(value.spec.template.metadata, 'labels')
    allDefaults[`io.k8s.api.${type}`]?.(value, at(15))
    assert.deepEqual(value.spec.selector, {}, type)
    assert.ok(wasWrittenEmpty(value.spec.selector, 'matchLabels'))
  }
})

test('policies written empty stay empty', () => {
  const scaleUp = {}
  rememberEmpty(scaleUp, 'policies')
  const value: Loose = { scaleUp }
  allDefaults['io.k8s.api.autoscaling.v2beta2.HorizontalPodAutoscalerBehavior']?.(value, at(22))
  assert.equal(value.scaleUp.policies, undefined)
})

test('an empty allocatable gets no default', () => {
  const value: Loose = { capacity: { cpu: '1' } }
  rememberEmpty(value, 'allocatable')
  allDefaults['io.k8s.api.core.v1.NodeStatus']?.(value, at(22))
  assert.equal(value.allocatable, undefined)
})

test('allocatable has the written form of capacity', () => {
  const value: Loose = { capacity: { 'example.com/x': '1500m' } }
  rememberText(value.capacity, 'example.com/x', '1.5')
  allDefaults['io.k8s.api.core.v1.NodeStatus']?.(value, at(22))
  assert.equal(textWritten(value.allocatable, 'example.com/x'), '1.5')
})

test('quantities that a default creates are empty in any case', () => {
  for (const [type, known] of [
    ['Container', false],
    ['Pod', true],
  ] as const) {
    const value: Loose = { type }
    rememberEmpty(value, 'default')
    allDefaults['io.k8s.api.core.v1.LimitRangeItem']?.(value, at(22))
    assert.equal(wasWrittenEmpty(value, 'default'), known, type)
  }
})

test('requests copied from limits keep their written text', () => {
  const limits = { cpu: '1500m' }
  rememberText(limits, 'cpu', '1.5')
  const value: Loose = { spec: { containers: [{ resources: { limits } }] } }
  allDefaults['io.k8s.api.core.v1.Pod']?.(value, at(22))
  assert.equal(textWritten(value.spec.containers[0].resources.requests, 'cpu'), '1.5')
})

test('the overhead of a runtime class is not rounded', () => {
  for (const version of ['v1', 'v1beta1', 'v1alpha1'])
    assert.equal(allDefaults[`io.k8s.api.node.${version}.Overhead`], undefined)
})
