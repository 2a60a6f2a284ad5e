import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { contextOf, linesOf, objectOf, templateOf } from '#kinds/pod-template/pods.suite.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { behaviourOf as behaviourIn } from '#kinds/all-kinds/rules.fixture.ts'

const behaviourOf = (key: string): Behaviour => behaviourIn(key, 22)
const selector = { matchLabels: { app: 'web' } }

const specs: Record<string, Loose> = {
  '/replicationcontrollers': { replicas: 1, selector: { app: 'web' }, template: templateOf() },
  'apps/replicasets': { replicas: 1, selector, template: templateOf() },
  'apps/deployments': {
    replicas: 1,
    selector,
    template: templateOf(),
    strategy: { type: 'Recreate' },
  },
  'apps/daemonsets': { selector, template: templateOf(), updateStrategy: { type: 'OnDelete' } },
  'apps/statefulsets': {
    replicas: 1,
    selector,
    template: templateOf(),
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
  },
  'batch/jobs': { template: templateOf({ restartPolicy: 'Never' }) },
  'batch/cronjobs': {
    schedule: '@daily',
    concurrencyPolicy: 'Allow',
    jobTemplate: { spec: { template: templateOf({ restartPolicy: 'Never' }) } },
  },
}
const made = (key: string, changes: Loose = {}): KubeObject =>
  objectOf('', structuredClone({ ...specs[key], ...changes }))
const create = (key: string, changes: Loose, context: Context = contextOf()) =>
  linesOf(behaviourOf(key).validateCreate?.(made(key, changes), context) ?? [])
const update = (key: string, next: Loose, old: Loose = {}, context: Context = contextOf()) =>
  linesOf(behaviourOf(key).validateUpdate?.(made(key, next), made(key, old), context) ?? [])

for (const key of Object.keys(specs)) {
  test(`${key}: a good one is created and changed`, () => {
    assert.deepEqual(create(key, {}), [])
    if (key !== 'batch/jobs') assert.deepEqual(update(key, {}), [])
  })
}

const mismatch =
  'spec.template.metadata.labels: Invalid value: map[string]string{"app":"web"}: `selector` does not match template `labels`'
const emptySelector =
  'Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}'
const rolling = (maxUnavailable: unknown, maxSurge: unknown) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxUnavailable, maxSurge },
})

const created: [string, string, Loose, string[]][] = [
  [
    'apps/deployments',
    'no selector',
    { selector: undefined },
    ['spec.selector: Required value', mismatch],
  ],
  [
    'apps/deployments',
    'an empty selector',
    { selector: {} },
    [`spec.selector: ${emptySelector}: empty selector is invalid for deployment`],
  ],
  ['apps/deployments', 'another selector', { selector: { matchLabels: { a: 'b' } } }, [mismatch]],
  [
    'apps/deployments',
    'pods that end',
    { template: templateOf({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }) },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  ],
  [
    'apps/deployments',
    'a rolling update that cannot move',
    { strategy: rolling('0%', 0) },
    [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"0%"}: may not be 0 when `maxSurge` is 0',
    ],
  ],
  [
    'apps/deployments',
    'more than all unavailable',
    { strategy: rolling('101%', -1) },
    [
      'spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0',
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
    ],
  ],
  [
    'apps/deployments',
    'an unknown strategy',
    { strategy: { type: 'x' } },
    [
      'spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:"x", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    'apps/deployments',
    'a deadline before readiness',
    { minReadySeconds: 10, progressDeadlineSeconds: 5 },
    ['spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds'],
  ],
  [
    'apps/deployments',
    'a disk written by many',
    {
      replicas: 2,
      template: templateOf({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'x' } }] }),
    },
    [
      'spec.template.spec.volumes[0].gcePersistentDisk.readOnly: Invalid value: false: must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only',
    ],
  ],
  [
    '/replicationcontrollers',
    'nothing at all',
    { selector: {}, template: undefined, replicas: -1 },
    [
      'spec.selector: Required value',
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.template: Required value',
    ],
  ],
  [
    'apps/daemonsets',
    'surge and unavailable pods together',
    { updateStrategy: rolling(1, 1) },
    [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: intstr.IntOrString{Type:0, IntVal:1, StrVal:""}: may not be set when maxUnavailable is non-zero',
    ],
  ],
  [
    'apps/daemonsets',
    'neither',
    { updateStrategy: rolling(0, 0) },
    [
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
    ],
  ],
  [
    'apps/statefulsets',
    'unknown words',
    { podManagementPolicy: 'x', updateStrategy: { type: 'y' } },
    [
      "spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'",
      "spec.updateStrategy: Invalid value: apps.StatefulSetUpdateStrategy{Type:\"y\", RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(nil)}: must be 'RollingUpdate' or 'OnDelete'",
    ],
  ],
  [
    'batch/jobs',
    'pods that never end',
    { template: templateOf() },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'batch/jobs',
    'indexes without completions',
    { completionMode: 'Indexed' },
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [
    'batch/jobs',
    'a selector of its own',
    { manualSelector: true },
    [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: map[string]string{"app":"web"}: `selector` does not match template `labels`',
    ],
  ],
  [
    'batch/cronjobs',
    'a bad schedule and policy',
    { schedule: 'x', concurrencyPolicy: 'y', failedJobsHistoryLimit: -1 },
    [
      'spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]',
      'spec.concurrencyPolicy: Unsupported value: "y": supported values: "Allow", "Forbid", "Replace"',
      'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
]
for (const [key, what, changes, expected] of created) {
  test(`${key} created with ${what}`, () => assert.deepEqual(create(key, changes), expected))
}

test('the selector is immutable, but not in every version', () => {
  const other = {
    selector: { matchLabels: { app: 'x' } },
    template: { ...templateOf(), metadata: { labels: { app: 'x' } } },
  }
  const immutable =
    'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"x"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable'
  for (const key of ['apps/deployments', 'apps/replicasets', 'apps/daemonsets']) {
    assert.deepEqual(update(key, other), [immutable], key)
    const old = contextOf({ requestApiVersion: 'extensions/v1beta1' })
    assert.deepEqual(update(key, other, {}, old), [], key)
  }
})

test('the template of a job is immutable, even in empty structures', () => {
  const template = (spec: Loose) => ({ template: templateOf({ restartPolicy: 'Never', ...spec }) })
  const key = 'batch/jobs'
  const own = { manualSelector: true, selector: { matchLabels: { app: 'web' } } }
  const change = (spec: Loose) => update(key, { ...own, ...template(spec) }, own)
  assert.deepEqual(change({ hostAliases: [] }), [])
  assert.deepEqual(change({ affinity: {} }), [
    'spec.template: Invalid value: core.PodTemplateSpec{}: field is immutable',
  ])
})

test('only some fields of a stateful set may change', () => {
  const key = 'apps/statefulsets'
  assert.deepEqual(update(key, { replicas: 3, updateStrategy: { type: 'OnDelete' } }), [])
  assert.deepEqual(update(key, { serviceName: 'x' }), [
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy' and 'minReadySeconds' are forbidden",
  ])
})

test('a job selects its pods by its uid', () => {
  const job = made('batch/jobs')
  assert.deepEqual(behaviourOf('batch/jobs').validateCreate?.(job, contextOf()), [])
  assert.deepEqual(job.spec.selector, { matchLabels: { 'controller-uid': 'u' } })
  const labels = { app: 'web', 'controller-uid': 'u', 'job-name': 'x' }
  assert.deepEqual(job.spec.template.metadata.labels, labels)
  assert.deepEqual(job.metadata.labels, labels)
})

test('changes of the spec increment the generation', () => {
  for (const key of Object.keys(specs)) {
    const rules = behaviourOf(key)
    const old = made(key)
    rules.prepareForCreate?.(old, contextOf())
    assert.equal(old.metadata.generation, 1, key)
    const same = structuredClone(old)
    rules.prepareForUpdate?.(same, old, contextOf())
    assert.equal(same.metadata.generation, 1, key)
    const next = structuredClone(old)
    next.spec.minReadySeconds = 5
    next.status = { replicas: 99 }
    rules.prepareForUpdate?.(next, old, contextOf())
    assert.deepEqual(next.status, old.status, key)
    // A stateful set's minReadySeconds is an alpha feature, but what is there already counts as
    // used.
    assert.equal(next.metadata.generation, 2, key)
  }
})

test('a controller without labels gets those of its pods', () => {
  const rules = behaviourOf('/replicationcontrollers')
  const old = made('/replicationcontrollers')
  const next = made('/replicationcontrollers')
  rules.subresources?.status?.prepareForUpdate?.(next, old, contextOf())
  assert.deepEqual(next.metadata.labels, next.spec.template.metadata.labels)
  next.metadata.labels = { own: 'x' }
  rules.subresources?.status?.prepareForUpdate?.(next, old, contextOf())
  assert.deepEqual(next.metadata.labels, { own: 'x' })
})

test('a daemon set counts its templates in an annotation', () => {
  const rules = behaviourOf('apps/daemonsets')
  const counter = 'deprecated.daemonset.template.generation'
  const old = made('apps/daemonsets')
  rules.prepareForCreate?.(old, contextOf())
  assert.equal(old.metadata.annotations?.[counter], '1')
  const next = structuredClone(old)
  next.spec.template.spec.hostname = 'h'
  next.metadata.annotations = { [counter]: '7' }
  rules.prepareForUpdate?.(next, old, contextOf())
  assert.equal(next.metadata.annotations?.[counter], '2')
  const broken = made('apps/daemonsets')
  broken.metadata.annotations = { [counter]: 'x' }
  for (const [text, version, why] of [
    ['x', 'apps/v1', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['', 'apps/v1beta2', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['9223372036854775808', 'apps/v1', / value out of range$/],
    ['+3', 'apps/v1', undefined],
    ['x', 'extensions/v1beta1', undefined],
  ] as const) {
    broken.metadata.annotations = { [counter]: text }
    const message = rules.conversionError?.(broken, version)
    if (why instanceof RegExp) assert.match(message ?? '', why)
    else assert.equal(message, why, text)
  }
  const third = made('apps/daemonsets')
  third.metadata.annotations = { [counter]: '3' }
  const reported = made('apps/daemonsets')
  rules.subresources?.status?.prepareForUpdate?.(reported, third, contextOf())
  assert.deepEqual(reported.metadata.annotations, { [counter]: '3' }, 'a status leaves it alone')
})

const statuses: [string, Loose, Loose, string[]][] = [
  [
    'apps/deployments',
    { replicas: 1, readyReplicas: 2, availableReplicas: -1, collisionCount: 1 },
    { collisionCount: 2 },
    [
      'status.availableReplicas: Invalid value: -1: must be greater than or equal to 0',
      'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'status.collisionCount: Invalid value: 1: cannot be decremented',
    ],
  ],
  [
    'apps/replicasets',
    { replicas: 1, availableReplicas: 1 },
    {},
    ['status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas'],
  ],
  [
    'batch/jobs',
    { active: -1, uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } },
    {},
    [
      'status.active: Invalid value: -1: must be greater than or equal to 0',
      'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
      'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
    ],
  ],
]
for (const [key, status, before, expected] of statuses) {
  test(`${key}: status ${JSON.stringify(status)}`, () => {
    const rules = behaviourOf(key).subresources?.status
    const old: KubeObject = { ...made(key), status: before }
    const next: KubeObject = { ...made(key, { replicas: 77 }), status }
    rules?.prepareForUpdate?.(next, old, contextOf())
    assert.deepEqual(next.spec, old.spec)
    assert.deepEqual(linesOf(rules?.validateUpdate?.(next, old, contextOf()) ?? []), expected)
  })
}

test('the data of a revision is immutable', () => {
  const rules = behaviourOf('apps/controllerrevisions')
  const revision = (data: unknown) => ({ ...objectOf('ControllerRevision', {}), data, revision: 1 })
  assert.deepEqual(linesOf(rules.validateCreate?.(revision(undefined), contextOf()) ?? []), [
    'data: Required value: data is mandatory',
  ])
  assert.deepEqual(
    linesOf(rules.validateUpdate?.(revision(['x']), revision(['y']), contextOf()) ?? []),
    [
      'data: Invalid value: runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, Raw:[]uint8{0x5b, 0x22, 0x78, 0x22, 0x5d}, ContentEncoding:"", ContentType:"application/json"}: field is immutable',
    ],
  )
})

test('data of a new revision must be an object from 1.31 on', () => {
  const rules = behaviourOf('apps/controllerrevisions')
  const revision = { ...objectOf('ControllerRevision', {}), data: ['x'], revision: 1 }
  const errors = [30, 31].map((release) =>
    linesOf(rules.validateCreate?.(revision, contextOf({ release })) ?? []),
  )
  assert.deepEqual(errors, [[], ['data: Required value: data must be a valid JSON object']])
})

test('the prefix of the name of a replication controller is free from 1.37 on', () => {
  const rules = behaviourOf('/replicationcontrollers')
  const problems = [36, 37].map((release) => {
    const context = contextOf({ release }, 'DeclarativeValidationBeta')
    return rules.nameRuleOf?.(objectOf('ReplicationController', {}), context)('::1', true).length
  })
  assert.deepEqual(problems, [1, 0])
})
