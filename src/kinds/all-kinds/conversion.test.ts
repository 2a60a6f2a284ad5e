import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberText, textWritten } from '#api/written-text.ts'
import { stripBudgetLabel } from '#kinds/policy/pod-disruption-budget/conversions.ts'
import { conversionsOf } from './rules.fixture.ts'

const convert = (
  resource: string,
  version: string,
  way: 'toHub' | 'fromHub',
  fields: Loose,
): Loose => {
  const object: KubeObject = { metadata: {}, ...structuredClone(fields) }
  const made = conversionsOf(resource)?.[version]?.[way](object, 22)
  assert.ok(made)
  return JSON.parse(JSON.stringify(made))
}

/** An object of the version and the same object in the hub version; both conversions. */
type Case = [string, string, string, Loose, Loose]
const selector = { matchLabels: { a: '<b>' } }
const label = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
const zeroEvent = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
}
const cases: Case[] = [
  [
    'other metrics and behaviour are annotations of v1',
    'autoscaling/horizontalpodautoscalers',
    'autoscaling/v1',
    {
      metadata: {
        annotations: {
          'autoscaling.alpha.kubernetes.io/metrics':
            '[{"type":"Pods","pods":{"metricName":"q","targetAverageValue":"1","selector":{"matchLabels":{"a":"\\u003cb\\u003e"}}}}]',
          'autoscaling.alpha.kubernetes.io/behavior':
            '{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":null,"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":2}]},"ScaleDown":null}',
          'autoscaling.alpha.kubernetes.io/conditions':
            '[{"type":"AbleToScale","status":"True","lastTransitionTime":null}]',
          mine: 'x',
        },
      },
      spec: { maxReplicas: 2, targetCPUUtilizationPercentage: 40 },
      status: { currentReplicas: 1, desiredReplicas: 1 },
    },
    {
      metadata: { annotations: { mine: 'x' } },
      spec: {
        maxReplicas: 2,
        metrics: [
          {
            type: 'Pods',
            pods: {
              metric: { name: 'q', selector },
              target: { type: 'AverageValue', averageValue: '1' },
            },
          },
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 40 } },
          },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 5,
            policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }],
          },
        },
      },
      status: {
        currentReplicas: 1,
        desiredReplicas: 1,
        currentMetrics: null,
        conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: null }],
      },
    },
  ],
  [
    'v2beta1 has targets beside their metrics',
    'autoscaling/horizontalpodautoscalers',
    'autoscaling/v2beta1',
    {
      spec: {
        metrics: [
          {
            type: 'Object',
            object: {
              target: { kind: 'S', name: 's' },
              metricName: 'r',
              targetValue: '5',
              averageValue: '2',
            },
          },
          {
            type: 'External',
            external: { metricName: 'e', metricSelector: selector, targetValue: '3' },
          },
          {
            type: 'ContainerResource',
            containerResource: { name: 'cpu', targetAverageUtilization: 1, container: 'c' },
          },
        ],
      },
      status: {
        currentReplicas: 0,
        conditions: null,
        currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', currentAverageValue: '1' } }],
      },
    },
    {
      spec: {
        metrics: [
          {
            type: 'Object',
            object: {
              describedObject: { kind: 'S', name: 's' },
              target: { type: 'AverageValue', value: '5', averageValue: '2' },
              metric: { name: 'r' },
            },
          },
          {
            type: 'External',
            external: { metric: { name: 'e', selector }, target: { type: 'Value', value: '3' } },
          },
          {
            type: 'ContainerResource',
            containerResource: {
              name: 'cpu',
              target: { type: 'Utilization', averageUtilization: 1 },
              container: 'c',
            },
          },
        ],
      },
      status: {
        currentReplicas: 0,
        conditions: null,
        currentMetrics: [
          { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1' } } },
        ],
      },
    },
  ],
  [
    'events have other names for most fields',
    '/events',
    'events.k8s.io/v1',
    {
      regarding: { name: 'p' },
      note: 'n',
      reportingController: 'c',
      deprecatedSource: { component: 'x' },
      deprecatedFirstTimestamp: null,
      deprecatedLastTimestamp: '2024-01-01T00:00:00Z',
      deprecatedCount: 3,
      eventTime: null,
      series: { count: 2, lastObservedTime: null },
    },
    {
      ...zeroEvent,
      involvedObject: { name: 'p' },
      message: 'n',
      reportingComponent: 'c',
      source: { component: 'x' },
      lastTimestamp: '2024-01-01T00:00:00Z',
      count: 3,
      series: { count: 2, lastObservedTime: null },
    },
  ],
  [
    'zone and node were labels of a topology',
    'discovery.k8s.io/endpointslices',
    'discovery.k8s.io/v1beta1',
    {
      endpoints: [
        {
          nodeName: 'n',
          topology: { 'topology.kubernetes.io/zone': 'z', 'kubernetes.io/hostname': 'n', x: 'y' },
        },
        { topology: { 'kubernetes.io/hostname': 'm' } },
      ],
    },
    {
      endpoints: [
        { nodeName: 'n', zone: 'z', deprecatedTopology: { x: 'y' } },
        { deprecatedTopology: { 'kubernetes.io/hostname': 'm' } },
      ],
    },
  ],
  [
    'an empty selector selected nothing',
    'policy/poddisruptionbudgets',
    'policy/v1beta1',
    { spec: { selector: {} } },
    { spec: { selector: { matchExpressions: [{ key: label, operator: 'Exists' }] } } },
  ],
  [
    'and v1 writes an empty selector as a label that no pod has',
    'policy/poddisruptionbudgets',
    'policy/v1beta1',
    { spec: { selector: { matchExpressions: [{ key: label, operator: 'DoesNotExist' }] } } },
    { spec: { selector: {} } },
  ],
  [
    'services and ports beside each other',
    'networking.k8s.io/ingresses',
    'extensions/v1beta1',
    {
      spec: {
        backend: { serviceName: 's', servicePort: 'web' },
        rules: [{ http: { paths: [{ backend: { serviceName: 't', servicePort: 80 } }] } }, {}],
      },
    },
    {
      spec: {
        defaultBackend: { service: { name: 's', port: { name: 'web' } } },
        rules: [
          { http: { paths: [{ backend: { service: { name: 't', port: { number: 80 } } } }] } },
          {},
        ],
      },
    },
  ],
  [
    'the alpha of runtime classes had a spec',
    'node.k8s.io/runtimeclasses',
    'node.k8s.io/v1alpha1',
    { spec: { runtimeHandler: 'h', overhead: { podFixed: { cpu: '1' } } } },
    { handler: 'h', overhead: { podFixed: { cpu: '1' } } },
  ],
  [
    'the alpha of bindings named versions',
    'rbac.authorization.k8s.io/rolebindings',
    'rbac.authorization.k8s.io/v1alpha1',
    {
      subjects: [
        { kind: 'User', name: 'u', apiVersion: 'rbac.authorization.k8s.io/v1alpha1' },
        { kind: 'ServiceAccount', name: 's', apiVersion: 'v1' },
      ],
    },
    {
      subjects: [
        { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    },
  ],
  [
    'a rollback is an annotation',
    'apps/deployments',
    'extensions/v1beta1',
    { metadata: { annotations: { a: 'b' } }, spec: { rollbackTo: { revision: 3 } } },
    { metadata: { annotations: { a: 'b', 'deprecated.deployment.rollback.to': '3' } }, spec: {} },
  ],
  [
    'so is how often a template changed',
    'apps/daemonsets',
    'extensions/v1beta1',
    { spec: { templateGeneration: 2 } },
    { metadata: { annotations: { 'deprecated.daemonset.template.generation': '2' } }, spec: {} },
  ],
  [
    'a generation that was never observed',
    'apps/statefulsets',
    'apps/v1beta1',
    { status: { observedGeneration: 0 } },
    { status: {} },
  ],
]
for (const [title, resource, version, older, hub] of cases) {
  const withMeta = (fields: Loose) => ({ metadata: {}, ...fields })
  test(`${title}: to the hub`, () => {
    assert.deepEqual(convert(resource, version, 'toHub', older), withMeta(hub))
  })
  test(`${title}: and back`, () => {
    assert.deepEqual(convert(resource, version, 'fromHub', hub), withMeta(older))
  })
}

test('without any metric, the autoscaler uses CPU', () => {
  const made = convert('autoscaling/horizontalpodautoscalers', 'autoscaling/v1', 'toHub', {})
  assert.equal(made.spec.metrics[0].resource.target.averageUtilization, 80)
})

test('annotations that are not JSON are dropped', () => {
  const annotations = {
    'autoscaling.alpha.kubernetes.io/metrics': '[{',
    'autoscaling.alpha.kubernetes.io/behavior': '1',
  }
  const made = convert('autoscaling/horizontalpodautoscalers', 'autoscaling/v1', 'toHub', {
    metadata: { annotations },
  })
  assert.equal(made.metadata.annotations, undefined)
  assert.equal(made.spec.behavior, undefined)
})

test('annotations are decoded by their types, with names in any case', () => {
  const read = (key: string, text: string) =>
    convert('autoscaling/horizontalpodautoscalers', 'autoscaling/v1', 'toHub', {
      metadata: { annotations: { [`autoscaling.alpha.kubernetes.io/${key}`]: text } },
    })
  const targets = (text: string) =>
    read('metrics', text).spec.metrics.map(({ type }: { type?: string }) => type)
  assert.deepEqual(targets('[{"TYPE":"Pods","pods":{"metricName":"a","x":1}}]'), ['Pods'])
  for (const text of ['[{"type":1}]', '{}', '[[]]', '[{"pods":{"targetAverageValue":"x"}}]']) {
    assert.deepEqual(targets(text), ['Resource'], text)
  }
  assert.equal(targets('[null]').length, 1)
  assert.deepEqual(read('conditions', '[{"type":"A","status":null}]').status.conditions, [
    { type: 'A', lastTransitionTime: null },
  ])
  assert.equal(read('conditions', '[{"lastTransitionTime":1}]').status.conditions, null)
  assert.equal(
    read('behavior', '{"ScaleUp":{"Policies":[{"Value":"x"}]}}').spec.behavior,
    undefined,
  )
  assert.deepEqual(read('behavior', '{"scaleup":{"Policies":[null]}}').spec.behavior, {
    scaleUp: { policies: [{ type: '', value: 0, periodSeconds: 0 }] },
  })
})

test('a backend without a service name keeps its port', () => {
  const made = convert('networking.k8s.io/ingresses', 'networking.k8s.io/v1beta1', 'fromHub', {
    spec: { defaultBackend: { resource: { kind: 'K', name: 'n' } } },
  })
  assert.deepEqual(made.spec.backend, { servicePort: 0, resource: { kind: 'K', name: 'n' } })
})

const backends: [beta: Loose, stable: Loose][] = [
  [{ serviceName: 's' }, { service: { name: 's', port: {} } }],
  [{ servicePort: 80 }, { service: { name: '', port: { number: 80 } } }],
  [{ servicePort: '' }, { service: { name: '', port: {} } }],
  [{}, {}],
  [{ resource: { kind: 'K', name: 'n' } }, { resource: { kind: 'K', name: 'n' } }],
]
for (const [beta, stable] of backends) {
  test(`a backend that says ${JSON.stringify(beta)}`, () => {
    const made = convert('networking.k8s.io/ingresses', 'networking.k8s.io/v1beta1', 'toHub', {
      spec: { backend: beta },
    })
    assert.deepEqual(made.spec.defaultBackend, stable)
  })
}

test('an absent member of a metric is absent in other versions', () => {
  const metric = { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: null } }
  const made = convert('autoscaling/horizontalpodautoscalers', 'autoscaling/v2beta1', 'toHub', {
    metadata: {},
    spec: { metrics: [metric] },
  })
  assert.deepEqual(made.spec.metrics[0].resource.name, 'cpu')
  assert.ok(!JSON.stringify(made.spec.metrics).includes('null'))
})

test('the label of budgets is effective only if it is the only one', () => {
  const mixed = { matchLabels: { a: 'b' }, matchExpressions: [{ key: label, operator: 'Exists' }] }
  stripBudgetLabel(mixed)
  assert.deepEqual(mixed, { matchLabels: { a: 'b' } })
})

test('the written text of quantities in older versions is kept', () => {
  const external = { metricName: 'm', targetValue: '1500m', targetAverageValue: '1' }
  rememberText(external, 'targetValue', '1.5')
  const object = { metadata: {}, spec: { metrics: [{ type: 'External', external }] } }
  const ways = conversionsOf('autoscaling/horizontalpodautoscalers')?.['autoscaling/v2beta1']
  assert.ok(ways)
  const { target } = ways.toHub(object as KubeObject, 22).spec.metrics[0].external
  assert.equal(textWritten(target, 'value'), '1.5')
  assert.equal(textWritten(target, 'averageValue'), undefined)
})
