import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import {
  type CreateCase,
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { horizontalPodAutoscalerBehaviour } from './behaviour.ts'

const scaleTargetRef = { kind: 'Deployment', name: 'd' }
const scaler = (spec: Loose) => inDefault({ spec: { maxReplicas: 3, scaleTargetRef, ...spec } })
const types = '"ContainerResource", "External", "Object", "Pods", "Resource"'
const share = { target: { type: 'Utilization', averageUtilization: 50 } }

checkCreate(horizontalPodAutoscalerBehaviour, [
  ['bounds', scaler({ minReplicas: 3 }), []],
  [
    'in order',
    scaler({ minReplicas: 4, maxReplicas: 0, scaleTargetRef: {} }),
    [
      'spec.maxReplicas: Invalid value: 0: must be greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Required value',
    ],
  ],
  [
    'an unknown type of a metric is reported twice',
    scaler({ metrics: [{ type: 'Odd' }] }),
    Array<string>(2).fill(
      `spec.metrics[0].type: Unsupported value: "Odd": supported values: ${types}`,
    ),
  ],
  ...['constructor', '__proto__'].map(
    (type): CreateCase => [
      `nor has ${type} one`,
      scaler({ metrics: [{ type }] }),
      Array<string>(2).fill(
        `spec.metrics[0].type: Unsupported value: "${type}": supported values: ${types}`,
      ),
    ],
  ),
  [
    'one source, of its type',
    scaler({ metrics: [{ type: 'Pods', resource: { name: 'cpu', ...share }, external: {} }] }),
    [
      'spec.metrics[0].external.metric.name: Required value: must specify a metric name',
      'spec.metrics[0].external.target.type: Required value: must specify a metric target type',
      'spec.metrics[0].external.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      'spec.metrics[0].external.target.averageValue: Required value: must set either a target value for metric or a per-pod target',
      'spec.metrics[0].pods: Required value: must populate information for the given metric source',
      'spec.metrics[0].external: Forbidden: must populate the given metric source only',
      'spec.metrics[0].resource: Forbidden: must populate the given metric source only',
    ],
  ],
  [
    'how fast',
    scaler({
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 3601,
          selectPolicy: 'Odd',
          policies: [{ type: 'Pods', value: 0, periodSeconds: 1801 }],
        },
      },
    }),
    [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Odd": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
    ],
  ],
])
const toZero =
  'must specify at least one Object or External metric to support scaling to zero replicas'
checkUpdate(horizontalPodAutoscalerBehaviour, [
  [
    'what could scale to zero still can',
    scaler({ minReplicas: 0 }),
    scaler({ minReplicas: 0 }),
    [`spec.metrics: Forbidden: ${toZero}`],
  ],
])

test('a new autoscaler has no observed generation, and container metrics need a feature gate', () => {
  const object = scaler({ metrics: [{ type: 'ContainerResource', containerResource: {} }] })
  horizontalPodAutoscalerBehaviour.prepareForCreate?.(object, contextFor())
  assert.deepEqual(object.spec.metrics, [{ type: 'ContainerResource' }])
  assert.deepEqual(object.status, {
    currentReplicas: 0,
    desiredReplicas: 0,
    currentMetrics: null,
    conditions: null,
  })
})

for (const [release, field] of [
  [19, 'containerresource'],
  [20, 'containerResource'],
] as const) {
  test(`the source that a metric lacks is called ${field} in 1.${release}`, () => {
    const object = scaler({ metrics: [{ type: 'ContainerResource' }] })
    const errors =
      horizontalPodAutoscalerBehaviour.validateCreate?.(object, contextFor({ release })) ?? []
    assert.ok(errors.some((error) => error.field === `spec.metrics[0].${field}`))
  })
}

const target = (minor: number, apiVersion: string, lines: string[]): CreateCase => [
  `1.${minor} and the apiVersion ${apiVersion} of a target`,
  scaler({ scaleTargetRef: { ...scaleTargetRef, apiVersion } }),
  lines,
  contextFor({ release: minor }),
]
const noGroup = 'apiVersion must specify API group'
checkCreate(horizontalPodAutoscalerBehaviour, [
  target(33, 'v1', []),
  target(34, 'v1', [`spec.scaleTargetRef.apiVersion: Invalid value: "v1": ${noGroup}`]),
  target(34, 'apps/v1', []),
  target(34, 'a/b/c', [
    'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ]),
  [
    '1.35 calls a missing maximum wrong',
    scaler({ maxReplicas: 0, scaleTargetRef: { ...scaleTargetRef, apiVersion: 'apps/v1' } }),
    ['spec.maxReplicas: Invalid value: 0: must be greater than 0'],
    contextFor({ release: 35 }),
  ],
  [
    '1.36 calls it missing',
    scaler({ maxReplicas: 0, scaleTargetRef: { ...scaleTargetRef, apiVersion: 'apps/v1' } }),
    ['spec.maxReplicas: Required value: must be set and greater than 0'],
    contextFor({ release: 36 }),
  ],
])

const counted = { conditions: [{ type: 'A', observedGeneration: -1 }] }
const status = horizontalPodAutoscalerBehaviour.subresources?.status
for (const [release, lines] of [
  [36, []],
  [
    37,
    [
      'status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
] as const) {
  checkUpdate({ validateUpdate: status?.validateUpdate }, [
    [
      `1.${release} and the generation of a condition`,
      scaler({}),
      { ...scaler({}), status: counted },
      [...lines],
      contextFor({ release }),
    ],
  ])
}
test('1.22 writes every field of an empty status, 1.23 those of v2', () => {
  const statusIn = (release: number) => {
    const object = scaler({})
    horizontalPodAutoscalerBehaviour.prepareForCreate?.(object, contextFor({ release }))
    return object.status
  }
  assert.deepEqual(Object.keys(statusIn(22)), [
    'currentReplicas',
    'desiredReplicas',
    'currentMetrics',
    'conditions',
  ])
  assert.deepEqual(Object.keys(statusIn(23)), ['desiredReplicas', 'currentMetrics'])
})
