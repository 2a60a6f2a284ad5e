/** Which endpoint says no, and by which check, in every state of a server's life. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { type HealthEndpoint, runChecks } from '#observe/health.ts'
import { type Part, ServerHealth } from './health-checks.ts'

const parts: readonly Part[] = ['server', 'definitions', 'objects', 'roles']
const all = 'autoregister-completion informer-sync poststarthook/*'

interface State {
  readonly done: readonly Part[]
  readonly graceMs?: number
  readonly afterMs?: number
  readonly trouble?: string
  readonly stopping?: boolean
}
/** The checks that fail, post-start hooks as one. */
const cases: [name: string, state: State, Record<HealthEndpoint, string>][] = [
  ['ready', { done: parts }, { healthz: '', livez: '', readyz: '' }],
  [
    'starting',
    { done: [] },
    {
      healthz: all.replace(' informer-sync', ''),
      livez: all.replace(' informer-sync', ''),
      readyz: all,
    },
  ],
  [
    'starting, forgiven for a while',
    { done: [], graceMs: 1000, afterMs: 999 },
    { healthz: all.replace(' informer-sync', ''), livez: '', readyz: all },
  ],
  [
    'starting for longer than is forgiven',
    { done: ['server', 'definitions', 'objects'], graceMs: 1000, afterMs: 1000 },
    { healthz: 'poststarthook/*', livez: 'poststarthook/*', readyz: 'poststarthook/*' },
  ],
  [
    'without its store',
    { done: parts, trouble: 'the disk is full' },
    { healthz: 'etcd', livez: 'etcd', readyz: 'etcd' },
  ],
  [
    'without its store, within the grace period: only the start is forgiven',
    { done: [], trouble: 'away', graceMs: 1000, afterMs: 1 },
    { healthz: all.replace('informer-sync', 'etcd'), livez: 'etcd', readyz: `${all} etcd` },
  ],
  ['stopping', { done: parts, stopping: true }, { healthz: '', livez: '', readyz: 'shutdown' }],
]
for (const [name, state, expected] of cases) {
  for (const endpoint of ['healthz', 'livez', 'readyz'] as const) {
    test(`${endpoint} of a server that is ${name}`, async () => {
      let nowMs = 0
      const health = new ServerHealth({
        release: 22,
        feature: () => true,
        fair: true,
        storeTrouble: () => state.trouble,
        livezGraceMs: state.graceMs ?? 0,
        monotonicMs: () => nowMs,
      })
      nowMs = state.afterMs ?? 0
      for (const part of state.done) health.done(part)
      if (state.stopping) health.stopping()
      const { healthy, text, problems } = await runChecks(endpoint, health[endpoint](), new Set())
      const failed = problems.map((problem) =>
        problem.replace(/:.*$/, '').replace(/^poststarthook\/.*/, 'poststarthook/*'),
      )
      const words = (list: readonly string[]) => [...new Set(list)].sort().join(' ')
      assert.equal(words(failed), words(expected[endpoint].split(' ').filter(Boolean)))
      assert.equal(healthy, expected[endpoint] === '')
      assert.ok(text.endsWith(`\n${endpoint} check ${healthy ? 'passed' : 'failed'}\n`), text)
      assert.equal(
        (text.match(/^\[-\]\S+ failed: reason withheld$/gm) ?? []).length,
        problems.length,
      )
    })
  }
}

checkBoundaries<HealthEndpoint, string[]>(
  (release, endpoint) => {
    const options = { release, feature: () => true, fair: true, livezGraceMs: 0 }
    const trouble = { storeTrouble: () => undefined, monotonicMs: () => 0 }
    const health = new ServerHealth({ ...options, ...trouble })
    return health[endpoint]().flatMap(({ name }) => (/hook|auto/.test(name) ? [] : [name]))
  },
  [
    [
      'the loopback certificate in livez',
      [35, 36],
      'livez',
      ['ping', 'log', 'etcd'],
      ['ping', 'log', 'loopback-serving-certificate', 'etcd'],
    ],
    [
      'the loopback certificate in healthz',
      [35, 36],
      'healthz',
      ['ping', 'log', 'etcd'],
      ['ping', 'log', 'loopback-serving-certificate', 'etcd'],
    ],
    [
      'the store in readyz',
      [24, 25],
      'readyz',
      ['ping', 'log', 'etcd', 'informer-sync', 'shutdown'],
      ['ping', 'log', 'etcd', 'etcd-readiness', 'informer-sync', 'shutdown'],
    ],
  ],
)

test('an excluded check is not run, and does not count', async () => {
  const health = new ServerHealth({
    release: 22,
    feature: () => true,
    fair: true,
    storeTrouble: () => assert.fail('asked'),
    livezGraceMs: 0,
    monotonicMs: () => 0,
  })
  for (const part of parts) health.done(part)
  const { healthy, text } = await runChecks('readyz', health.readyz(), new Set(['etcd', 'b', 'a']))
  assert.ok(healthy)
  assert.match(text, /^\[\+\]etcd excluded: ok$/m)
  assert.match(text, /^warn: .* no matches for "a", "b"\nreadyz check passed\n$/m)
})

test('every release shows the stages it has, in its order', () => {
  const shown = (release: number, fair: boolean) =>
    new ServerHealth({
      release,
      feature: () => true,
      fair,
      storeTrouble: () => undefined,
      livezGraceMs: 0,
      monotonicMs: () => 0,
    })
      .healthz()
      .map(({ name }) => name.replace('poststarthook/', ''))
  const [oldest, newest] = [shown(15, false), shown(21, true)]
  assert.equal(oldest.indexOf('start-kube-apiserver-admission-initializer'), 11)
  assert.equal(newest.indexOf('start-kube-apiserver-admission-initializer'), 3)
  assert.deepEqual(oldest.slice(-3), [
    'apiservice-openapi-controller',
    'kube-apiserver-autoregistration',
    'autoregister-completion',
  ])
  assert.equal(newest.at(-1), 'apiservice-openapi-controller')
  assert.ok(oldest.includes('ca-registration') && !newest.includes('ca-registration'))
  const filters = (names: string[]) => names.filter((name) => name.endsWith('-filter'))
  assert.deepEqual(
    [15, 18, 19].map((release) => filters(shown(release, false))),
    [[], [], ['max-in-flight-filter']],
  )
  assert.deepEqual(filters(newest), ['priority-and-fairness-filter'])
})

const named = (release: number, endpoint: HealthEndpoint, gatesOff: readonly string[] = []) =>
  new ServerHealth({
    release,
    feature: (gate) => !gatesOff.includes(gate),
    fair: true,
    storeTrouble: () => undefined,
    livezGraceMs: 0,
    monotonicMs: () => 0,
  })
    [endpoint]()
    .map(({ name }) => name.replace('poststarthook/', ''))

/** The checks that the second release has not, and those that the first has not. */
const steps: [last: number, first: number, gone: string[], added: string[]][] = [
  [15, 16, [], []],
  [16, 17, ['ca-registration'], ['start-cluster-authentication-info-controller']],
  [17, 18, [], ['priority-and-fairness-config-consumer']],
  [18, 19, [], ['priority-and-fairness-filter']],
  [
    19,
    20,
    [],
    [
      'priority-and-fairness-config-producer',
      'start-kube-apiserver-identity-lease-controller',
      'start-kube-apiserver-identity-lease-garbage-collector',
    ],
  ],
  [23, 24, [], ['apiservice-openapiv3-controller']],
  [24, 25, [], ['storage-object-count-tracker-hook']],
  [25, 26, [], ['start-legacy-token-tracking-controller', 'apiservice-discovery-controller']],
  [
    26,
    27,
    [],
    [
      'start-system-namespaces-controller',
      'start-deprecated-kube-apiserver-identity-lease-garbage-collector',
    ],
  ],
  [27, 28, [], ['start-service-ip-repair-controllers', 'peer-endpoint-reconciler-controller']],
  [
    28,
    29,
    ['start-deprecated-kube-apiserver-identity-lease-garbage-collector'],
    ['start-kubernetes-service-cidr-controller'],
  ],
  [
    29,
    30,
    ['start-kube-apiserver-admission-initializer'],
    ['start-apiserver-admission-initializer'],
  ],
  [
    30,
    31,
    ['apiservice-status-available-controller'],
    [
      'storage-readiness',
      'apiservice-status-local-available-controller',
      'apiservice-status-remote-available-controller',
    ],
  ],
]
for (const [last, first, gone, added] of steps)
  test(`the health checks of 1.${last} and 1.${first}`, () => {
    const [before, now] = [named(last, 'healthz'), named(first, 'healthz')]
    const without = (names: string[], others: string[]) =>
      names.filter((name) => !others.includes(name))
    assert.deepEqual([without(before, now), without(now, before)], [gone, added])
  })

/** Whether a check comes before another. */
const orders: [earlier: string, later: string, last: number, first: number][] = [
  ['kube-apiserver-autoregistration', 'apiservice-openapi-controller', 15, 16],
  ['start-kube-apiserver-admission-initializer', 'generic-apiserver-start-informers', 16, 17],
  ['start-system-namespaces-controller', 'bootstrap-controller', 27, 28],
  ['apiservice-discovery-controller', 'kube-apiserver-autoregistration', 29, 30],
  ['start-system-namespaces-controller', 'rbac/bootstrap-roles', 30, 31],
]
for (const [earlier, later, last, first] of orders)
  test(`${earlier} is shown before ${later} since 1.${first}`, () => {
    const isEarlier = (release: number) => {
      const names = named(release, 'healthz')
      return names.indexOf(earlier) < names.indexOf(later)
    }
    assert.deepEqual([isEarlier(last), isEarlier(first)], [false, true])
  })

test('a health check is shown once', () => {
  for (let release = 15; release <= 37; release++) {
    const names = named(release, 'healthz')
    assert.equal(new Set(names).size, names.length, `1.${release}`)
  }
})

test('stages wait for their gates', () => {
  const gate = 'UnknownVersionInteroperabilityProxy'
  const stage = 'peer-endpoint-reconciler-controller'
  assert.ok(named(37, 'healthz').includes(stage))
  assert.ok(!named(37, 'healthz', [gate]).includes(stage))
})

test('the store has a check of readiness since 1.25', () => {
  assert.deepEqual(named(24, 'readyz').slice(0, 4), ['ping', 'log', 'etcd', 'informer-sync'])
  assert.deepEqual(named(25, 'readyz').slice(2, 5), ['etcd', 'etcd-readiness', 'informer-sync'])
  assert.ok(!named(37, 'livez').includes('etcd-readiness'))
})
