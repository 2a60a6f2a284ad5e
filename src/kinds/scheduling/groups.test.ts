import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { behaviourOf } from '#kinds/all-kinds/rules.fixture.ts'
import { podGroupBehaviour } from './pod-group/behaviour.ts'
import { workloadBehaviour } from './workload/behaviour.ts'

const gates = [
  'TopologyAwareWorkloadScheduling',
  'DRAWorkloadResourceClaims',
  'PodGroupPreemptionPolicy',
  'CompositePodGroup',
]
const context = contextFor({ release: 37 })
const withGates = contextFor({ release: 37 }, gates)
const kinds = {
  group: 'scheduling.k8s.io/podgroups',
  composite: 'scheduling.k8s.io/compositepodgroups',
  workload: 'scheduling.k8s.io/workloads',
} as const

const gatedSpec: Loose = {
  schedulingConstraints: { topology: [{ key: 'a' }] },
  resourceClaims: [{ name: 'a' }],
  preemptionPolicy: 'Never',
  parentCompositePodGroupName: 'a',
}
const status: Loose = { conditions: [], resourceClaimStatuses: [{ name: 'a' }] }

test('a new group has no status, and no field of a disabled gate', () => {
  const made = (on: typeof context): KubeObject => {
    const object = inDefault({ spec: { ...gatedSpec, priority: 1 }, status })
    podGroupBehaviour.prepareForCreate?.(object, on)
    return object
  }
  assert.deepEqual(made(context).spec, { priority: 1 })
  assert.deepEqual(made(context).status, {})
  assert.deepEqual(made(withGates).spec, { ...gatedSpec, priority: 1 })
})

test('a group keeps the disabled fields that it has', () => {
  const old = inDefault({ spec: gatedSpec, status })
  const next = inDefault({ spec: gatedSpec, status: { conditions: [{ type: 'A' }] } })
  podGroupBehaviour.prepareForUpdate?.(next, old, context)
  assert.deepEqual([next.spec, next.status], [gatedSpec, status])
})

test('a status update keeps spec and metadata, and drops the statuses of disabled claims', () => {
  const { prepareForUpdate } = podGroupBehaviour.subresources?.['status'] ?? {}
  const old = inDefault({ spec: { priority: 1 } }, { labels: { a: 'b' } })
  const next = inDefault({ spec: { priority: 2 }, status: { ...status } }, { labels: {} })
  prepareForUpdate?.(next, old, context)
  assert.deepEqual([next.spec, next.metadata.labels], [{ priority: 1 }, { a: 'b' }])
  assert.deepEqual(next.status, { conditions: [] })
})

const inGroup = (fields: Loose) => inDefault({ spec: {}, ...fields })
test('the status of a group names claims of its spec', () => {
  const validate = podGroupBehaviour.subresources?.['status']?.validateUpdate
  const next = inGroup({
    spec: { resourceClaims: [{ name: 'b' }] },
    status: { conditions: [{ type: 'A' }], resourceClaimStatuses: [{ name: 'b' }, { name: 'a' }] },
  })
  assert.deepEqual(linesOf(validate?.(next, inGroup({}), context) ?? []), [
    'status.conditions[0].status: Required value',
    'status.conditions[0].lastTransitionTime: Required value',
    'status.conditions[0].reason: Required value',
    'status.resourceClaimStatuses[1].name: Invalid value: "a": must match the name of an entry in `spec.resourceClaims`',
  ])
})

test('the status of a composite group has valid conditions', () => {
  const { subresources } = behaviourOf(kinds.composite, 37)
  const next = inGroup({ status: { conditions: [{ type: '', status: 'True' }] } })
  const errors = subresources?.['status']?.validateUpdate?.(next, inGroup({}), context) ?? []
  assert.deepEqual(linesOf(errors).slice(0, 1), [
    'status.conditions[0].type: Required value: is required',
  ])
})

checkCreate(podGroupBehaviour, [
  [
    'a group with a parent needs a workload',
    inGroup({ spec: { parentCompositePodGroupName: 'a' } }),
    ['spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set'],
  ],
  [
    'a group with a parent and a workload',
    inGroup({ spec: { parentCompositePodGroupName: 'a', workloadRef: { workloadName: 'a' } } }),
    [],
  ],
])

const group = (name: string, more: Loose = {}): Loose => ({ name, ...more })
const composite = (name: string, ...children: Loose[]): Loose => {
  const isTree = (child: Loose) => Object.keys(child).some((field) => field.endsWith('Templates'))
  const [trees, groups] = [children.filter(isTree), children.filter((child) => !isTree(child))]
  return {
    name,
    ...(groups.length > 0 && { podGroupTemplates: groups }),
    ...(trees.length > 0 && { compositePodGroupTemplates: trees }),
  }
}
const workload = (groups: Loose[], composites: Loose[] = []): KubeObject =>
  inDefault({ spec: { podGroupTemplates: groups, compositePodGroupTemplates: composites } })
const nested = composite('1', composite('2', composite('3', composite('4', group('5')))))
const different =
  'all priority and priorityClassName values must be identical, detected multiple values'
const childless = 'must have at least one child PodGroupTemplate or CompositePodGroupTemplate'

checkCreate(workloadBehaviour, [
  ['a tree of templates', workload([], [composite('1', composite('2', group('3')))]), []],
  [
    'names that another list has',
    workload([group('a')], [composite('a', group('b')), composite('c', group('b'))]),
    [
      'spec.compositePodGroupTemplates[0].name: Duplicate value: "a"',
      'spec.compositePodGroupTemplates[1].podGroupTemplates[0].name: Duplicate value: "b"',
    ],
  ],
  ['names that the same list has', workload([group('a'), group('a')]), []],
  [
    'a tree that is too deep',
    workload([], [nested]),
    [
      'spec.compositePodGroupTemplates[0]: Invalid value: scheduling.CompositePodGroupTemplate{}: maximum template hierarchy depth is 4',
    ],
  ],
  [
    'priorities that differ',
    workload([group('a'), group('b', { priority: 0 })]),
    ['spec: Invalid value: "null": detected multiple priority configurations'],
  ],
  [
    'priorities that differ in the tree',
    workload([], [composite('a', group('b', { priorityClassName: 'x' }))]),
    [`spec: Invalid value: "null": ${different}`],
  ],
  [
    'a composite without children',
    workload([], [composite('a', { ...composite('b'), podGroupTemplates: [] })]),
    [
      `spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]: Invalid value: "b": ${childless}`,
    ],
  ],
])
checkUpdate(workloadBehaviour, [
  [
    'a changed workload',
    workload([group('a')]),
    workload([], [{ name: 'a' }]),
    [`spec.compositePodGroupTemplates[0]: Invalid value: "a": ${childless}`],
  ],
])

test('a workload drops templates and fields of disabled gates', () => {
  const templates = (): Loose => ({
    podGroupTemplates: [group('a', { resourceClaims: [{ name: 'a' }], priority: 1 })],
    compositePodGroupTemplates: [
      { ...composite('b', group('c', { preemptionPolicy: 'Never' })), preemptionPolicy: 'Never' },
    ],
  })
  const dropped = inDefault({ spec: templates() })
  workloadBehaviour.prepareForCreate?.(dropped, context)
  assert.deepEqual(dropped.spec, { podGroupTemplates: [{ name: 'a', priority: 1 }] })
  const kept = inDefault({ spec: templates() })
  workloadBehaviour.prepareForUpdate?.(kept, inDefault({ spec: templates() }), context)
  assert.deepEqual(kept.spec, templates())
})

checkBoundaries(
  (release, [key, gate]: [string, string]) => {
    const spec: Loose = {
      disruptionMode: 'Pod',
      priority: 1,
      podGroupTemplates: [{ name: 'a', priorityClassName: 'x' }],
    }
    const object = inDefault({ spec })
    behaviourOf(key, release).prepareForCreate?.(object, contextFor({ release }, [gate]))
    return object.spec as Loose
  },
  [
    [
      'the priority of a group',
      [36, 37],
      [kinds.group, ''],
      { podGroupTemplates: [{ name: 'a', priorityClassName: 'x' }] },
      {
        disruptionMode: 'Pod',
        priority: 1,
        podGroupTemplates: [{ name: 'a', priorityClassName: 'x' }],
      },
    ],
    [
      'the priority of a template',
      [36, 37],
      [kinds.workload, ''],
      { disruptionMode: 'Pod', priority: 1, podGroupTemplates: [{ name: 'a' }] },
      {
        disruptionMode: 'Pod',
        priority: 1,
        podGroupTemplates: [{ name: 'a', priorityClassName: 'x' }],
      },
    ],
  ],
)

checkBoundaries(
  (release, key: string) => behaviourOf(key, release).unconditionalUpdate ?? true,
  [
    ['a PUT of a group without a version', [36, 37], kinds.group, true, false],
    ['a PUT of a workload without a version', [36, 37], kinds.workload, true, false],
  ],
)

const now = Date.parse('2024-01-01T01:00:00Z')
checkBoundaries(
  (release, object: Loose) => {
    const metadata = { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' }
    return behaviourOf(kinds.group, release).columns?.cells({ ...object, metadata }, now)
  },
  [
    [
      'the workload of a group',
      [36, 37],
      {
        spec: {
          schedulingPolicy: { gang: { minCount: 1 } },
          podGroupTemplateRef: { workload: { workloadName: 'older' } },
          workloadRef: { workloadName: 'newer' },
        },
        status: {
          conditions: [
            { type: 'PodGroupScheduled', status: 'True' },
            { type: 'PodGroupInitiallyScheduled', status: 'False' },
          ],
        },
      },
      ['a', 'Gang', 'older', 'Scheduled', '60m'],
      ['a', 'Gang', 'newer', 'Unschedulable', '60m'],
    ],
    [
      'a group that will be disrupted',
      [36, 37],
      { spec: {}, status: { conditions: [{ type: 'DisruptionTarget', reason: 'Preempted' }] } },
      ['a', 'Basic', '<none>', 'Preempted', '60m'],
      ['a', 'Basic', '<none>', 'Preempted', '60m'],
    ],
    [
      'a new group',
      [36, 37],
      { spec: {} },
      ['a', 'Basic', '<none>', 'Pending', '60m'],
      ['a', 'Basic', '<none>', 'Pending', '60m'],
    ],
  ],
)

test('the table of composite groups', () => {
  const metadata = { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' }
  const table = behaviourOf(kinds.composite, 37).columns
  const spec = { workloadRef: { workloadName: 'w' } }
  assert.deepEqual(table?.cells({ metadata, spec }, now), ['a', 'Basic', 'w', '60m'])
})

const both = '{`basic`, `gang`}'
checkBoundaries(
  (release, [next, old]: [Loose, Loose?]) => {
    const { validateCreate, validateUpdate } = behaviourOf(kinds.workload, release)
    const at = contextFor({ release })
    const object = inDefault({ spec: next })
    const errors =
      old === undefined
        ? validateCreate?.(object, at)
        : validateUpdate?.(object, inDefault({ spec: old }), at)
    return linesOf(errors ?? [])
  },
  [
    [
      'no pod groups',
      [35, 36],
      [{}],
      ['spec.podGroups: Required value: must have at least one item'],
      [],
    ],
    [
      'too many pod groups',
      [35, 36],
      [{ podGroups: Array.from({ length: 9 }, () => ({})) }],
      ['spec.podGroups: Too many: 9: must have at most 8 items'],
      [],
    ],
    [
      'wrong pod groups',
      [35, 36],
      [
        {
          controllerRef: { apiGroup: 'A', kind: 'a/b' },
          podGroups: [
            { name: 'a', policy: {} },
            { name: 'a', policy: { basic: {}, gang: {} } },
            { name: 'b', policy: { gang: { minCount: -1 } } },
          ],
        },
      ],
      [
        "spec.controllerRef.apiGroup: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        'spec.controllerRef.kind: Invalid value: "a/b": may not contain \'/\'',
        'spec.controllerRef.name: Required value',
        'spec.podGroups[0].policy: Required value: exactly one of `basic`, `gang` is required',
        'spec.podGroups[1].name: Duplicate value: "a"',
        `spec.podGroups[1].policy: Invalid value: "${both}": exactly one of \`basic\`, \`gang\` is required, but multiple fields are set`,
        'spec.podGroups[2].policy.gang.minCount: Invalid value: -1: must be greater than zero',
      ],
      [],
    ],
    [
      'changed pod groups',
      [35, 36],
      [
        {
          controllerRef: { kind: 'A', name: 'b' },
          podGroups: [{ name: 'a', policy: { basic: {} } }],
        },
        { controllerRef: { kind: 'A', name: 'a' }, podGroups: [] },
      ],
      [
        'controllerRef: Invalid value: scheduling.TypedLocalObjectReference{}: field is immutable',
        'podGroups: Invalid value: scheduling.PodGroup{}: field is immutable',
      ],
      [],
    ],
  ],
)
