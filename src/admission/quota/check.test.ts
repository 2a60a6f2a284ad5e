import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf, pod, podKind, requestOf } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import { checkQuotas, type LimitedResource } from './check.ts'
import { Evaluators } from './evaluators.ts'

const release = releaseOf(22)
const evaluators = new Evaluators({ feature: () => true, now: () => 0, release })

/** A quota without usage. */
const quota = (hard: Record<string, string>, spec: Loose = {}): KubeObject => ({
  metadata: { name: 'q' },
  spec: { hard, ...spec },
  status: { hard, used: Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])) },
})

/** The new usage of the quota, without zeros, or the rejection. */
function outcome(
  object: KubeObject,
  kind: Kind,
  quotas: KubeObject[],
  old?: KubeObject,
  limited: readonly LimitedResource[] = [],
): unknown {
  const request = requestOf(old === undefined ? 'CREATE' : 'UPDATE', kind, object, { old })
  const evaluator = evaluators.of(kind.group, kind.plural)
  assert.ok(evaluator)
  try {
    const [charged] = checkQuotas(quotas, request, evaluator, limited, release)
    const used: Record<string, string> = charged?.status.used ?? {}
    return Object.fromEntries(Object.entries(used).filter(([, amount]) => amount !== '0'))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.message
  }
}

const resources = (requests: Loose, limits: Loose = {}) => ({ resources: { requests, limits } })
const container = (requests: Loose, limits?: Loose) => ({
  name: 'c',
  ...resources(requests, limits),
})
const running = (requests: Loose, limits?: Loose, spec: Loose = {}) =>
  pod({ containers: [container(requests, limits)], ...spec })
const no = 'pods "p" is forbidden: '
const over = (requested: string, used: string, limited: string) =>
  `exceeded quota: q, requested: ${requested}, used: ${used}, limited: ${limited}`

const pods: [name: string, hard: Record<string, string>, object: KubeObject, expected: unknown][] =
  [
    ['its number', { pods: '2', 'count/pods': '2' }, pod(), { pods: '1', 'count/pods': '1' }],
    ['just as many as there may be', { pods: '1' }, pod(), { pods: '1' }],
    [
      'one more than there may be',
      { pods: '0' },
      pod(),
      `${no}${over('pods=1', 'pods=0', 'pods=0')}`,
    ],
    [
      'the error has only the exceeded resources',
      { 'requests.cpu': '1', 'requests.memory': '1Mi' },
      running({ cpu: '500m', memory: '2Mi' }),
      `${no}${over('requests.memory=2Mi', 'requests.memory=0', 'requests.memory=1Mi')}`,
    ],
    [
      'requests by both names, and limits',
      { cpu: '1', 'requests.cpu': '1', 'limits.cpu': '2' },
      running({ cpu: '100m' }, { cpu: '500m' }),
      { cpu: '100m', 'requests.cpu': '100m', 'limits.cpu': '500m' },
    ],
    [
      'a container that does not specify a counted resource',
      { cpu: '1', memory: '1Gi' },
      running({ cpu: '1', memory: '1Mi' }, {}, { initContainers: [{ name: 'i' }] }),
      `${no}failed quota: q: must specify cpu,memory`,
    ],
    [
      'ephemeral storage may be unspecified',
      { 'requests.ephemeral-storage': '1Gi' },
      running({}),
      {},
    ],
    [
      'the largest init container, where it is more than all others',
      { 'requests.cpu': '1' },
      running(
        { cpu: '100m' },
        {},
        { initContainers: [container({ cpu: '200m' }), container({ cpu: '700m' })] },
      ),
      { 'requests.cpu': '700m' },
    ],
    [
      'all containers, where they are more than any init container',
      { 'requests.cpu': '1' },
      pod({
        containers: [container({ cpu: '200m' }), container({ cpu: '300m' })],
        initContainers: [container({ cpu: '400m' })],
      }),
      { 'requests.cpu': '500m' },
    ],
    [
      'overhead',
      { 'requests.cpu': '1', 'limits.cpu': '1' },
      running({ cpu: '100m' }, { cpu: '200m' }, { overhead: { cpu: '50m' } }),
      { 'requests.cpu': '150m', 'limits.cpu': '250m' },
    ],
    [
      'huge pages and what nodes have besides',
      { 'requests.hugepages-2Mi': '4Mi', 'hugepages-1Gi': '1Gi', 'requests.example.com/gpu': '1' },
      running({ 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' }),
      { 'requests.hugepages-2Mi': '4Mi', 'requests.example.com/gpu': '1' },
    ],
    [
      'less than nothing',
      { 'requests.cpu': '1' },
      running({ cpu: '-1' }),
      `${no}quota usage is negative for resource(s): cpu,requests.cpu`,
    ],
    ['nothing of what is counted', { services: '0', 'count/deployments.apps': '0' }, pod(), {}],
  ]
for (const [name, hard, object, expected] of pods)
  test(`a pod uses ${name}`, () =>
    assert.deepEqual(outcome(object, podKind, [quota(hard)]), expected))

const finished = (phase: string) => ({ ...running({ cpu: '1' }), status: { phase } })
const deleted = (grace: number | bigint) => ({
  ...running({ cpu: '1' }),
  metadata: {
    name: 'p',
    deletionTimestamp: new Date(-10_000).toISOString(),
    deletionGracePeriodSeconds: grace,
  },
})
for (const [name, object, counts] of [
  ['that failed', finished('Failed'), false],
  ['that succeeded', finished('Succeeded'), false],
  ['that runs', finished('Running'), true],
  ['deleted longer ago than its grace', deleted(9), false],
  ['deleted as long ago as its grace', deleted(10), true],
  ['deleted with a grace of centuries', deleted(2n ** 53n), true],
] as const)
  test(`a pod ${name} ${counts ? 'uses' : 'does not use'} what it requests`, () =>
    assert.deepEqual(
      outcome(object, podKind, [quota({ pods: '1', 'count/pods': '1', 'requests.cpu': '1' })]),
      { 'count/pods': '1', ...(counts && { pods: '1', 'requests.cpu': '1' }) },
    ))

const deadline = { activeDeadlineSeconds: 5 }
const priority = (priorityClassName: string) => pod({ priorityClassName })
const byPriority = (operator: string, values?: string[]) => ({
  scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
})
const crossing = {
  scopeSelector: {
    matchExpressions: [{ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }],
  },
}
const near = (term: Loose) =>
  pod({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } })
const apart = (podAffinityTerm: Loose) =>
  pod({
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }],
      },
    },
  })
const [plain, ending, limited, endingLimited, ephemeral] = [
  pod(),
  pod(deadline),
  running({}, { memory: '1Mi' }),
  running({ cpu: '1' }, {}, deadline),
  running({ 'ephemeral-storage': '1Mi' }),
]
const scopes: [name: string, spec: Loose, inside: KubeObject[], outside: KubeObject[]][] = [
  ['Terminating', { scopes: ['Terminating'] }, [ending, endingLimited], [plain, limited]],
  ['NotTerminating', { scopes: ['NotTerminating'] }, [plain, limited], [ending, endingLimited]],
  ['BestEffort', { scopes: ['BestEffort'] }, [plain, ending, ephemeral], [limited, endingLimited]],
  ['NotBestEffort', { scopes: ['NotBestEffort'] }, [limited, endingLimited], [plain, ephemeral]],
  [
    'of two scopes',
    { scopes: ['Terminating', 'NotBestEffort'] },
    [endingLimited],
    [plain, ending, limited],
  ],
  ['of a class', byPriority('In', ['high', 'mid']), [priority('high')], [priority('low'), plain]],
  ['not of a class', byPriority('NotIn', ['high']), [priority('low'), plain], [priority('high')]],
  ['of any class', byPriority('Exists'), [priority('low')], [plain]],
  ['of no class', byPriority('DoesNotExist'), [plain], [priority('low')]],
  ['of an unknown operator', byPriority('Like', ['high']), [], [plain, priority('high')]],
  [
    'near pods of other namespaces',
    crossing,
    [near({ namespaces: ['x'] }), near({ namespaceSelector: {} }), apart({ namespaces: ['x'] })],
    [plain, near({}), near({ namespaces: [] }), apart({})],
  ],
  ['of an unknown scope', { scopes: ['Strange'] }, [], [plain]],
]
for (const [name, spec, inside, outside] of scopes)
  test(`the quota for pods ${name}`, () => {
    const check = (object: KubeObject) => outcome(object, podKind, [quota({ pods: '1' }, spec)])
    for (const object of inside) assert.deepEqual(check(object), { pods: '1' })
    for (const object of outside) assert.deepEqual(check(object), {})
  })

const claimKind = kindOf('v1', 'persistentvolumeclaims')
const gold = 'gold.storageclass.storage.k8s.io'
const annotation = 'volume.beta.kubernetes.io/storage-class'
const claim = (storage: string, spec: Loose = {}, annotations: Loose = {}): KubeObject => ({
  metadata: { name: 'c', resourceVersion: '1', annotations },
  spec: { resources: { requests: { storage } }, ...spec },
})
const storageQuota = quota({
  persistentvolumeclaims: '9',
  'requests.storage': '10Gi',
  [`${gold}/requests.storage`]: '1Gi',
  [`${gold}/persistentvolumeclaims`]: '1',
})
const inGold = (storage: string) => ({
  persistentvolumeclaims: '1',
  'requests.storage': storage,
  [`${gold}/requests.storage`]: storage,
  [`${gold}/persistentvolumeclaims`]: '1',
})
const claims: [name: string, object: KubeObject, old: KubeObject | undefined, expected: unknown][] =
  [
    [
      'of no class',
      claim('2Gi'),
      undefined,
      { persistentvolumeclaims: '1', 'requests.storage': '2Gi' },
    ],
    ['of a class', claim('500Mi', { storageClassName: 'gold' }), undefined, inGold('500Mi')],
    [
      'with a class from the older annotation',
      claim('1Mi', {}, { [annotation]: 'gold' }),
      undefined,
      inGold('1Mi'),
    ],
    [
      'with parts of a byte',
      claim('1500m'),
      undefined,
      { persistentvolumeclaims: '1', 'requests.storage': '2' },
    ],
    [
      'of a class that is used up',
      claim('2Gi', { storageClassName: 'gold' }),
      undefined,
      `persistentvolumeclaims "c" is forbidden: ${over(`${gold}/requests.storage=2Gi`, `${gold}/requests.storage=0`, `${gold}/requests.storage=1Gi`)}`,
    ],
    ['that grows', claim('3Gi'), claim('2Gi'), { 'requests.storage': '1Gi' }],
    ['that shrinks', claim('1Gi'), claim('2Gi'), {}],
    ['without size', { metadata: { name: 'c' } }, undefined, { persistentvolumeclaims: '1' }],
  ]
for (const [name, object, old, expected] of claims)
  test(`a claim ${name}`, () =>
    assert.deepEqual(outcome(object, claimKind, [storageQuota], old), expected))

const serviceKind = kindOf('v1', 'services')
const service = (type: string, ports: Loose[], spec: Loose = {}): KubeObject => ({
  metadata: { name: 's', resourceVersion: '1' },
  spec: { type, ports, ...spec },
})
const [nodeports, balancers] = ['services.nodeports', 'services.loadbalancers']
const withoutPorts = { allocateLoadBalancerNodePorts: false }
const services: [name: string, object: KubeObject, old: KubeObject | undefined, expected: Loose][] =
  [
    ['inside', service('ClusterIP', [{}]), undefined, { services: '1' }],
    ['on nodes', service('NodePort', [{}, {}]), undefined, { services: '1', [nodeports]: '2' }],
    [
      'balanced',
      service('LoadBalancer', [{}]),
      undefined,
      { services: '1', [nodeports]: '1', [balancers]: '1' },
    ],
    [
      'balanced without ports of nodes',
      service('LoadBalancer', [{}], withoutPorts),
      undefined,
      { services: '1', [balancers]: '1' },
    ],
    [
      'balanced, that keeps a port it had',
      service('LoadBalancer', [{ nodePort: 30000 }, {}], withoutPorts),
      undefined,
      { services: '1', [nodeports]: '1', [balancers]: '1' },
    ],
    [
      'by a name',
      { metadata: { name: 's' }, spec: { type: 'ExternalName' } },
      undefined,
      { services: '1' },
    ],
    [
      'that moves to nodes',
      service('NodePort', [{}]),
      service('ClusterIP', [{}]),
      { [nodeports]: '1' },
    ],
    ['that moves inside', service('ClusterIP', [{}]), service('NodePort', [{}]), {}],
  ]
for (const [name, object, old, expected] of services)
  test(`a service ${name}`, () => {
    const hard = quota({ services: '9', [nodeports]: '9', [balancers]: '9' })
    assert.deepEqual(outcome(object, serviceKind, [hard], old), expected)
  })

const limit = (more: Partial<LimitedResource>): LimitedResource => ({
  apiGroup: '',
  resource: 'pods',
  matchContains: [],
  matchScopes: [],
  ...more,
})
/** Quotas that count a single name, with an object that uses one of it and much of others. */
const devices = running({ 'hugepages-1Gi': '1', 'example.com/gpu': '1', 'x.kubernetes.io/y': '1' })
const alone: [name: string, kind: Kind, object: KubeObject, counts: boolean][] = [
  ['hugepages-1Gi', podKind, devices, true],
  ['requests.hugepages-1Gi', podKind, devices, true],
  ['requests.example.com/gpu', podKind, devices, true],
  ['example.com/gpu', podKind, devices, false],
  ['requests.x.kubernetes.io/y', podKind, devices, false],
  ['count/persistentvolumeclaims', claimKind, claim('1'), true],
  ['persistentvolumeclaims', claimKind, claim('1'), true],
  ['requests.storage', claimKind, claim('1'), true],
  [`${gold}/requests.storage`, claimKind, claim('1', { storageClassName: 'gold' }), true],
  [`${gold}/persistentvolumeclaims`, claimKind, claim('1', { storageClassName: 'gold' }), true],
  [`${gold}/persistentvolumeclaims`, claimKind, claim('1', { storageClassName: 'tin' }), false],
  ['count/services', serviceKind, service('ClusterIP', []), true],
]
for (const [name, kind, object, counts] of alone)
  test(`${name} of ${kind.plural} ${JSON.stringify(object.spec)} is ${counts ? '' : 'not '}counted`, () =>
    assert.deepEqual(
      outcome(object, kind, [quota({ [name]: '1' })]),
      counts ? { [name]: '1' } : {},
    ))

test('only pods have scopes', () => {
  const scoped = quota({ services: '1', persistentvolumeclaims: '1' }, { scopes: ['BestEffort'] })
  assert.deepEqual(outcome(service('ClusterIP', []), serviceKind, [scoped]), {})
  assert.deepEqual(outcome(claim('1'), claimKind, [scoped]), {})
})

test('an update that creates the object counts all its usage', () => {
  const old = { ...claim('2Gi'), metadata: { name: 'c' } }
  assert.deepEqual(outcome(claim('2Gi'), claimKind, [storageQuota], old), {
    persistentvolumeclaims: '1',
    'requests.storage': '2Gi',
  })
})

test('a quota that does not count the object is unchanged', () => {
  const request = requestOf('CREATE', podKind, pod())
  const evaluator = evaluators.of('', 'pods')
  assert.ok(evaluator)
  const charged = checkQuotas(
    [quota({ services: '1' }), quota({ cpu: '1' }, { scopes: ['Terminating'] })],
    request,
    evaluator,
    [],
    release,
  )
  assert.deepEqual(charged, [])
})

const highOnly = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] }
const gpus = limit({ matchContains: ['gpu'] })
const gpu = running({ 'example.com/gpu': '1' })
const limits: [
  name: string,
  limited: LimitedResource,
  quotas: KubeObject[],
  object: KubeObject,
  expected: unknown,
][] = [
  [
    'without a quota',
    gpus,
    [],
    gpu,
    `${no}insufficient quota to consume: requests.example.com/gpu`,
  ],
  [
    'with one',
    gpus,
    [quota({ 'requests.example.com/gpu': '1' })],
    gpu,
    { 'requests.example.com/gpu': '1' },
  ],
  [
    'with one for others',
    gpus,
    [quota({ 'requests.cpu': '1' }, { scopes: ['Terminating'] })],
    gpu,
    `${no}insufficient quota to consume: requests.example.com/gpu`,
  ],
  ['that the pod does not request', gpus, [], pod(), {}],
  ['of another kind', { ...gpus, resource: 'services' }, [], gpu, {}],
  ['of another group', { ...gpus, apiGroup: 'x' }, [], gpu, {}],
  [
    'in a scope without a quota',
    limit({ matchScopes: [highOnly] }),
    [],
    priority('high'),
    'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
  ],
  ['outside that scope', limit({ matchScopes: [highOnly] }), [], priority('low'), {}],
  [
    'in a scope with a quota',
    limit({ matchScopes: [highOnly] }),
    [quota({ pods: '1' }, byPriority('In', ['high']))],
    priority('high'),
    { pods: '1' },
  ],
]
for (const [name, one, quotas, object, expected] of limits)
  test(`what is limited by configuration, ${name}`, () =>
    assert.deepEqual(outcome(object, podKind, quotas, undefined, [one]), expected))

const counted: [apiVersion: string, plural: string, names: string[]][] = [
  ['v1', 'configmaps', ['configmaps', 'count/configmaps']],
  ['v1', 'secrets', ['secrets', 'count/secrets']],
  ['v1', 'resourcequotas', ['resourcequotas', 'count/resourcequotas']],
  ['v1', 'replicationcontrollers', ['replicationcontrollers', 'count/replicationcontrollers']],
  ['apps/v1', 'deployments', ['count/deployments.apps']],
]
for (const [apiVersion, plural, names] of counted)
  test(`${plural} are counted as ${names}`, () => {
    const all = [...names, plural, 'pods', 'services']
    const hard = Object.fromEntries(all.map((name) => [name, '1']))
    const expected = Object.fromEntries(names.map((name) => [name, '1']))
    const object = { metadata: { name: 'x' } }
    assert.deepEqual(outcome(object, kindOf(apiVersion, plural), [quota(hard)]), expected)
  })

test('events and reviews are not counted', () => {
  for (const [group, plural] of [
    ['', 'events'],
    ['', 'bindings'],
    ['authorization.k8s.io', 'localsubjectaccessreviews'],
  ] as const)
    assert.equal(evaluators.of(group, plural), undefined)
})

test('the cache of evaluators is bounded', () => {
  const first = evaluators.of('x.io', 'things')
  assert.equal(evaluators.of('x.io', 'things'), first)
  for (let i = 0; i < 1000; i++) evaluators.of(`x${i}.io`, 'things')
  assert.notEqual(evaluators.of('x.io', 'things'), first)
})
