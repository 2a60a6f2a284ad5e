import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { priorityPlugin } from './priority.ts'
import { catalogOf, kindOf, outcome, pod, podKind, requestOf } from './requests.suite.ts'

const group = 'scheduling.k8s.io'
const classKind = kindOf(`${group}/v1`, 'priorityclasses')
const low = { metadata: { name: 'low' }, value: 7 }
const standard = {
  metadata: { name: 'std' },
  value: 100,
  globalDefault: true,
  preemptionPolicy: 'Never',
}
const reserve = { metadata: { name: 'res' }, value: 50, globalDefault: true }
const plugin = priorityPlugin(22)

function readerWith(...classes: Loose[]): MemoryReader {
  const reader = new MemoryReader()
  for (const one of classes) reader.put(group, 'priorityclasses', one as never)
  return reader
}
const none = readerWith()
const some = readerWith(low, standard)

const refused = (what: string, given: unknown, computed: unknown) =>
  `403 pods "p" is forbidden: the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`
const number = 'integer value of priority'
const policy = 'string value of PreemptionPolicy'

const cases: [name: string, spec: Loose, reader: MemoryReader, expected: Loose | string][] = [
  ['nothing', {}, none, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
  ['zero', { priority: 0 }, none, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
  ['a number of its own', { priority: 5 }, none, refused(number, 5, 0)],
  [
    'a policy of its own',
    { preemptionPolicy: 'Never' },
    none,
    refused(policy, 'Never', 'PreemptLowerPriority'),
  ],
  [
    'an unknown class',
    { priorityClassName: 'x' },
    none,
    '403 pods "p" is forbidden: no PriorityClass with name x was found',
  ],
  [
    'the default class',
    {},
    some,
    { priorityClassName: 'std', priority: 100, preemptionPolicy: 'Never' },
  ],
  [
    'a policy against that of the default class',
    { preemptionPolicy: 'PreemptLowerPriority' },
    some,
    refused(policy, 'PreemptLowerPriority', 'Never'),
  ],
  [
    'of two default classes the lower',
    {},
    readerWith(standard, reserve),
    { priorityClassName: 'res', priority: 50, preemptionPolicy: 'PreemptLowerPriority' },
  ],
  [
    'a class',
    { priorityClassName: 'low' },
    some,
    { priorityClassName: 'low', priority: 7, preemptionPolicy: 'PreemptLowerPriority' },
  ],
  [
    'a class and its number',
    { priorityClassName: 'low', priority: 7 },
    some,
    { priorityClassName: 'low', priority: 7, preemptionPolicy: 'PreemptLowerPriority' },
  ],
  [
    'a class and another number',
    { priorityClassName: 'low', priority: 8 },
    some,
    refused(number, 8, 7),
  ],
]
for (const [name, spec, reader, expected] of cases)
  test(`a pod with ${name}`, async () => {
    const request = requestOf('CREATE', podKind, pod(spec))
    const stated = await outcome(plugin, request, reader)
    if (typeof expected === 'string') return assert.equal(stated, expected)
    assert.equal(stated, 'admitted')
    const { containers: _, ...rest } = request.object?.spec ?? {}
    assert.deepEqual(rest, expected)
  })

test('an update without the fields that the server set keeps them', async () => {
  const old = pod({ priority: 7, preemptionPolicy: 'Never' })
  const request = requestOf('UPDATE', podKind, pod(), { old })
  assert.equal(await outcome(plugin, request, none), 'admitted')
  assert.equal(request.object?.spec.priority, 7)
  assert.equal(request.object?.spec.preemptionPolicy, 'Never')
})

test('before 1.19 pods have no preemption policy', async () => {
  const [made, changed] = [
    requestOf('CREATE', podKind, pod()),
    requestOf('UPDATE', podKind, pod(), { old: pod({ priority: 1, preemptionPolicy: 'Never' }) }),
  ]
  for (const request of [made, changed]) {
    assert.equal(await outcome(priorityPlugin(18), request, some), 'admitted')
    assert.equal(request.object?.spec.preemptionPolicy, undefined)
  }
})

test('a binding has no priority', async () => {
  const request = requestOf('CREATE', podKind, pod(), { subresource: 'binding' })
  assert.equal(await outcome(plugin, request, some), 'admitted')
  assert.equal(request.object?.spec.priority, undefined)
})

const second = (name: string) =>
  `403 priorityclasses.scheduling.k8s.io "${name}" is forbidden: PriorityClass std is already marked as default. Only one default can exist`
const classes: [name: string, operation: 'CREATE' | 'UPDATE', object: Loose, expected: string][] = [
  ['a second default', 'CREATE', reserve, second('res')],
  ['made the default later', 'UPDATE', { ...low, globalDefault: true }, second('low')],
  ['the default again', 'UPDATE', standard, 'admitted'],
  ['no default', 'CREATE', { ...reserve, globalDefault: false }, 'admitted'],
]
for (const [name, operation, object, expected] of classes)
  test(`a class that is ${name}`, async () =>
    assert.equal(await outcome(plugin, requestOf(operation, classKind, object), some), expected))

for (const [release, namespace, expected] of [
  [16, 'ns', 'pods with system-node-critical priorityClass is not permitted in ns namespace'],
  [16, 'kube-system', 'no PriorityClass with name system-node-critical was found'],
  [17, 'ns', 'no PriorityClass with name system-node-critical was found'],
] as const)
  test(`a class of the system in ${namespace}, 1.${release}`, async () => {
    const spec = { priorityClassName: 'system-node-critical' }
    const request = requestOf('CREATE', podKind, pod(spec), { namespace })
    const stated = await outcome(priorityPlugin(release), request, none)
    assert.equal(stated, `403 pods "p" is forbidden: ${expected}`)
  })

const newest = catalogOf(37)
const groupKind = (plural: string) => kindOf(`${group}/v1alpha3`, plural, newest)
const gates = ['GenericWorkload', 'CompositePodGroup', 'PodGroupPreemptionPolicy']
type GroupCase = [
  title: string,
  plural: string,
  release: number,
  gates: string[],
  spec: Loose,
  expected: Loose | string,
]
const forbidden = (plural: string, why: string) =>
  `403 ${plural}.scheduling.k8s.io "p" is forbidden: ${why}`
const groupCases: GroupCase[] = [
  [
    'nothing',
    'podgroups',
    37,
    ['GenericWorkload'],
    {},
    { priorityClassName: 'std', priority: 100 },
  ],
  ['a disabled gate', 'podgroups', 37, [], {}, {}],
  ['another gate', 'podgroups', 36, ['GenericWorkload'], {}, {}],
  [
    'the gate of 1.36',
    'podgroups',
    36,
    ['WorkloadAwarePreemption'],
    { priorityClassName: 'low' },
    { priorityClassName: 'low', priority: 7 },
  ],
  [
    'a policy',
    'compositepodgroups',
    37,
    gates,
    { priorityClassName: 'std' },
    { priorityClassName: 'std', priority: 100, preemptionPolicy: 'Never' },
  ],
  [
    'another policy',
    'compositepodgroups',
    37,
    gates,
    { priorityClassName: 'std', preemptionPolicy: 'PreemptLowerPriority' },
    forbidden(
      'compositepodgroups',
      'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in composite pod group spec; priority admission controller computed Never from the given PriorityClass name',
    ),
  ],
  [
    'another number',
    'podgroups',
    37,
    gates,
    { priority: 3 },
    forbidden(
      'podgroups',
      'priority set in the pod group (3) must match the priority computed (100) based on the priority class set in the spec',
    ),
  ],
  [
    'an unknown class',
    'podgroups',
    37,
    gates,
    { priorityClassName: 'x' },
    forbidden('podgroups', 'no PriorityClass with name x was found'),
  ],
]
for (const [title, plural, release, on, spec, expected] of groupCases)
  test(`a group with ${title}: ${plural}, 1.${release}`, async () => {
    const object = { metadata: { name: 'p' }, spec: { ...spec } }
    const request = requestOf('CREATE', groupKind(plural), object)
    const stated = await outcome(
      priorityPlugin(release, (gate) => on.includes(gate)),
      request,
      some,
    )
    if (typeof expected === 'string') assert.equal(stated, expected)
    else assert.deepEqual([stated, request.object?.spec], ['admitted', expected])
  })
