import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { limitRangeBehaviour } from './limit-range/behaviour.ts'
import {
  checkContainerResourceName,
  checkResourceQuantity,
  isExtendedResource,
} from '#kinds/all-kinds/resource-names.ts'
import { resourceQuotaBehaviour } from './resource-quota/behaviour.ts'

const quantity = (value: number, scale: number, text: string) =>
  `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${text}", Format:"DecimalSI"}`
const limits = (...items: object[]) => named({ spec: { limits: items } })

checkCreate(limitRangeBehaviour, [
  ['nothing is limited', limits(), []],
  [
    'each type once',
    limits({ type: 'Pod' }, { type: 'Pod' }),
    ['spec.limits[1].type: Duplicate value: "Pod"'],
  ],
  [
    'min, default and max in order',
    limits({ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' }, default: { cpu: '3' } }),
    [
      `spec.limits[0].min[cpu]: Invalid value: ${quantity(2, 0, '2')}: min value 2 is greater than max value 1`,
      `spec.limits[0].default[cpu]: Invalid value: ${quantity(1, 0, '1')}: default value 3 is greater than max value 1`,
    ],
  ],
  [
    'a pod has no defaults',
    limits({ type: 'Pod', default: { cpu: '1' } }),
    ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
  ],
  [
    'a claim is limited by storage',
    limits({ type: 'PersistentVolumeClaim' }),
    [
      'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
    ],
  ],
  [
    'ratios are at least 1 and within max/min',
    limits({
      type: 'Container',
      min: { cpu: '100m' },
      max: { cpu: '1' },
      maxLimitRequestRatio: { cpu: '20' },
    }),
    [
      `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: ${quantity(20, 0, '20')}: ratio 20 is greater than max/min = 10.000000`,
    ],
  ],
])

const scopes = (list: string[]) =>
  `[]core.ResourceQuotaScope{${list.map((scope) => `"${scope}"`).join(', ')}}`
checkCreate(resourceQuotaBehaviour, [
  [
    'objects of a kind and extended resources can be counted',
    named({ spec: { hard: { 'count/jobs.batch': '1', 'requests.example.com/gpu': '2' } } }),
    [],
  ],
  [
    'other names cannot',
    named({ spec: { hard: { storage: '1', odd: '1' } } }),
    [
      'spec.hard[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
      'spec.hard[odd]: Invalid value: "odd": must be a standard resource for quota',
      'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    ],
  ],
  [
    'scopes fit what is counted and each other',
    named({ spec: { hard: { cpu: '1' }, scopes: ['BestEffort', 'NotBestEffort'] } }),
    [
      `spec.scopes: Invalid value: ${scopes(['BestEffort', 'NotBestEffort'])}: unsupported scope applied to resource`,
      `spec.scopes: Invalid value: ${scopes(['BestEffort', 'NotBestEffort'])}: conflicting scopes`,
    ],
  ],
  [
    'some scopes need a feature',
    named({ spec: { scopes: ['CrossNamespacePodAffinity'] } }),
    [`spec.scopes: Invalid value: ${scopes(['CrossNamespacePodAffinity'])}: unsupported scope`],
  ],
  [
    'and with it',
    named({ spec: { scopes: ['CrossNamespacePodAffinity'] } }),
    [],
    contextFor({}, ['PodAffinityNamespaceSelector']),
  ],
])
checkUpdate(resourceQuotaBehaviour, [
  [
    'scopes stay, in whatever order',
    named({ spec: { scopes: ['BestEffort', 'Terminating'] } }),
    named({ spec: { scopes: ['Terminating', 'BestEffort'] } }),
    [],
  ],
  [
    'or are refused',
    named({ spec: { scopes: ['BestEffort'] } }),
    named({ spec: {} }),
    ['spec.scopes: Invalid value: []core.ResourceQuotaScope(nil): field is immutable'],
  ],
])

const path = FieldPath.of('x')
test('names of container resources', () => {
  assert.deepEqual(checkContainerResourceName('hugepages-2Mi', path), [])
  assert.deepEqual(checkContainerResourceName('example.com/gpu', path), [])
  assert.deepEqual(linesOf(checkContainerResourceName('pods', path)), [
    'x: Invalid value: "pods": must be a standard resource for containers',
  ])
  assert.ok(!isExtendedResource('requests.example.com/gpu'))
  assert.ok(!isExtendedResource('kubernetes.io/x'))
})

test('some resources have only whole amounts', () => {
  assert.deepEqual(checkResourceQuantity({ cpu: '1500m' }, 'cpu', path), [])
  assert.equal(checkResourceQuantity({ pods: '1500m' }, 'pods', path).length, 1)
  assert.equal(
    checkResourceQuantity({ 'example.com/gpu': '500m' }, 'example.com/gpu', path).length,
    1,
  )
})

test('before 1.21 a changed quota is validated as a whole, and its spec again', () => {
  const next = inDefault({ spec: { hard: { pods: '-1' } } })
  next.metadata.generateName = 'A_b'
  const fields = (release: number) =>
    resourceQuotaBehaviour
      .validateUpdate?.(next, inDefault({ spec: {} }), contextFor({ release }))
      .map(({ field }) => field)
  assert.deepEqual(fields(20), ['metadata.generateName', 'spec.hard[pods]', 'spec.hard[pods]'])
  assert.deepEqual(fields(21), ['spec.hard[pods]'])
})
