import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  linesOf,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { nodeBehaviour } from './behaviour.ts'
import { node } from './node.ts'

const cidrs = (...list: string[]) => named({ spec: { podCIDRs: list } })
checkCreate(nodeBehaviour, [
  ['one range of each family', cidrs('10.0.0.0/24', 'fd00::/64'), []],
  [
    'and no more',
    cidrs('10.0.0.0/24', '10.0.0.0/24'),
    [
      'spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.0.0/24"}: may specify no more than one CIDR for each IP family',
      'spec.podCIDRs[1]: Duplicate value: "10.0.0.0/24"',
    ],
  ],
  [
    'taints are one per key and effect',
    named({
      spec: {
        taints: [
          { key: 'k', effect: 'NoSchedule' },
          { key: 'k', effect: 'NoSchedule', value: 'v' },
        ],
      },
    }),
    [
      'metadata.taints[1]: Duplicate value: core.Taint{Key:"k", Value:"v", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
    ],
  ],
  [
    'an error of an amount with an empty name is at a key',
    named({ status: { capacity: { '': '-1' } } }),
    ['status.capacity[]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    'taints in the old annotation too',
    named({}, { annotations: { 'scheduler.alpha.kubernetes.io/taints': '[{"key":"a"}]' } }),
    ['metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value'],
  ],
])

checkUpdate(nodeBehaviour, [
  [
    'ranges and provider stay once set',
    named({ spec: { podCIDRs: ['10.0.0.0/24'], providerID: 'a' } }),
    named({ spec: { podCIDRs: ['10.1.0.0/24'] } }),
    [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ],
  ],
  [
    'addresses come once',
    named(),
    named({
      status: {
        addresses: [
          { type: 'InternalIP', address: '1.1.1.1' },
          { type: 'InternalIP', address: '1.1.1.1' },
        ],
      },
    }),
    [
      'status.addresses[1]: Duplicate value: core.NodeAddress{Type:"InternalIP", Address:"1.1.1.1"}',
    ],
  ],
])

test('an update of the node keeps its status, an update of the status keeps its spec', () => {
  const old = named({ spec: { unschedulable: true }, status: { phase: 'x' } })
  const next = named({ spec: {}, status: {} })
  nodeBehaviour.prepareForUpdate?.(next, old, contextFor())
  assert.deepEqual(next.status, { phase: 'x' })
  const status = named({ spec: {}, status: {} })
  nodeBehaviour.subresources?.status?.prepareForUpdate?.(status, old, contextFor())
  assert.deepEqual(status.spec, { unschedulable: true })
})

test('a kubelet configuration is dropped without its feature gate, and causes a warning with it', () => {
  const object = named({ spec: { configSource: {} } })
  nodeBehaviour.prepareForCreate?.(object, contextFor())
  assert.deepEqual(object.spec, {})
  const warned = named({ spec: { configSource: {} } })
  assert.deepEqual(nodeBehaviour.warningsOnCreate?.(warned, contextFor()), [
    'spec.configSource: deprecated in v1.22, support removal is planned in v1.23',
  ])
})

test('a configuration in the status must be complete', () => {
  const object = named({
    status: { config: { active: { configMap: { name: 'c', namespace: 'n' } } } },
  })
  const errors =
    nodeBehaviour.subresources?.status?.validateUpdate?.(object, named(), contextFor()) ?? []
  assert.deepEqual(linesOf(errors), [
    'status.config.active.configMap.uid: Required value: uid must be set in status',
    'status.config.active.configMap.resourceVersion: Required value: resourceVersion must be set in status',
    'status.config.active.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set',
  ])
})

test('nodes are selected by whether they are unschedulable', () => {
  assert.deepEqual(nodeBehaviour.selectableFields?.(named()), { 'spec.unschedulable': 'false' })
})

for (const [release, kernel] of [
  [35, '6.1'],
  [36, '6.1 (arm64)'],
] as const)
  test(`the kernel of a node in tables of 1.${release}`, () => {
    const status = { nodeInfo: { kernelVersion: '6.1', architecture: 'arm64' } }
    const before = node.olderColumns?.find((one) => !releaseOf(release).has(one.before))
    const columns = before?.instead ?? node.columns
    assert.equal(columns?.cells(named({ status }), 0)[8], kernel)
  })

test('a policy of preemption is dropped without its gate', () => {
  const made = named({ spec: { podPreemptionPolicy: {} } })
  nodeBehaviour.prepareForCreate?.(made, contextFor({ release: 37 }))
  assert.deepEqual(made.spec, {})
})

const declaring = (...declaredFeatures: string[]) =>
  named({ spec: {}, status: { declaredFeatures } })
const noFeature = (name: string) =>
  `invalid feature name "${name}": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`
const featureCases: [string, ReturnType<typeof named>, string[]][] = [
  ['features of the kubelet', declaring('A', 'B/c'), []],
  [
    'an invalid name of a feature',
    declaring('a'),
    [`status.declaredFeatures[0]: Invalid value: "a": ${noFeature('a')}`],
  ],
  [
    'a long feature',
    declaring('A'.repeat(254)),
    [
      `status.declaredFeatures[0]: Invalid value: "${'A'.repeat(254)}": invalid feature name "${'A'.repeat(254)}": must be no more than 253 characters`,
    ],
  ],
  ['one twice', declaring('A', 'A'), ['status.declaredFeatures[1]: Duplicate value: "A"']],
  [
    'in another order',
    declaring('B', 'A'),
    ['status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically'],
  ],
]
checkCreate(nodeBehaviour, featureCases)
test('an update of the status checks the features', () => {
  for (const [what, next, lines] of featureCases) {
    const errors = nodeBehaviour.subresources?.status?.validateUpdate?.(
      next,
      declaring(),
      contextFor(),
    )
    assert.deepEqual(linesOf(errors ?? []), lines, what)
  }
})
test('features are kept where the gate is on', () => {
  for (const gates of [[], ['NodeDeclaredFeatures']]) {
    const made = declaring('A')
    nodeBehaviour.prepareForCreate?.(made, contextFor({}, gates))
    assert.equal(made.status.declaredFeatures !== undefined, gates.length > 0)
  }
})
