import assert from 'node:assert/strict'
import test from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { change } from '#api/releases/change.ts'
import { helpText, type LifeCycle, presence, showHiddenProblem } from './life-cycle.ts'
import { counter, exponentialBounds, gauge, histogram, valueText } from './metric.ts'
import { queueMeters } from './queue-metrics.ts'
import { Registry } from './registry.ts'
import { serverMetrics } from './server-metrics.ts'

test('a page has help, type and one line per child, and families are sorted', async () => {
  const registry = new Registry({ release: 22 })
  const requests = registry.register(counter('b_total', 'verb', 'code'), 'Requests.', {
    stability: 'STABLE',
  })
  const child = requests.labels('GET', '200')
  child.add(1)
  requests.labels('GET', '200').add(2)
  requests.labels('a"b\\c\nd', '').add(1)
  registry.register(gauge('a'), 'A.').labels().set(-1.5)
  assert.equal(
    await registry.page(),
    [
      '# HELP a [ALPHA] A.',
      '# TYPE a gauge',
      'a -1.5',
      '# HELP b_total [STABLE] Requests.',
      '# TYPE b_total counter',
      'b_total{verb="GET",code="200"} 3',
      'b_total{verb="a\\"b\\\\c\\nd",code=""} 1',
      '',
    ].join('\n'),
  )
})

test('a bucket includes its bound', async () => {
  const family = histogram('h', [1, 2, 4], 'x')
  const child = family.labels('y')
  for (const value of [0, 1, 1.5, 2, 3, 4, 5]) child.observe(value)
  const lines: string[] = []
  family.write(lines)
  assert.deepEqual(lines, [
    'h_bucket{x="y",le="1"} 2',
    'h_bucket{x="y",le="2"} 4',
    'h_bucket{x="y",le="4"} 6',
    'h_bucket{x="y",le="+Inf"} 7',
    'h_sum{x="y"} 16.5',
    'h_count{x="y"} 7',
  ])
})

test('a page may have more lines than a call has arguments', async () => {
  const registry = new Registry({ release: 22 })
  const many = registry.register(histogram('h', exponentialBounds(1, 1.1, 40), 'x'), 'H.')
  const count = 8000
  for (let i = 0; i < count; i++) many.labels(String(i)).observe(1)
  const lines = (await registry.page()).split('\n')
  assert.equal(lines.filter((line) => line.startsWith('h_count')).length, count)
})

test('children with given labels are deleted in every metric', async () => {
  const registry = new Registry({ release: 22 })
  const families = [
    registry.register(counter('a', 'verb', 'group', 'resource'), 'A.'),
    registry.register(gauge('b', 'resource', 'group'), 'B.'),
  ]
  const spans = registry.register(histogram('c', [], 'group', 'resource', 'verb'), 'C.')
  const other = registry.register(gauge('d', 'group'), 'D.')
  const [a, b] = families
  for (const [group, resource] of [
    ['x.io', 'things'],
    ['x.io', 'others'],
    ['y.io', 'things'],
    ['",resource="things', 'group="x.io"'],
  ]) {
    a.labels('GET', group, resource)
    b.labels(resource, group)
    spans.labels(group, resource, 'GET').observe(1)
  }
  other.labels('x.io')
  registry.forget({ group: 'x.io', resource: 'things' })
  const lines = (await registry.page()).split('\n').filter((line) => /^[abcd]/.test(line))
  assert.equal(lines.filter((line) => /^a|^b|^c_count/.test(line)).length, 9)
  assert.ok(!lines.some((line) => /group="x.io"/.test(line) && /resource="things"/.test(line)))
  assert.ok(lines.includes('d{group="x.io"} 0'))
})

const deprecatedFrom = (since: number): LifeCycle => ({
  stability: 'ALPHA',
  deprecated: { title: `test: deprecated from 1.${since}`, spans: [{ since }] },
})

test('disabled metrics are not exposed, and unexpected label values are combined', async () => {
  const registry = new Registry({
    release: 22,
    disabled: new Set(['gone', 'plain']),
    allowed: new Map([
      ['kept_total', new Map([['verb', new Set(['GET', 'PUT'])]])],
      ['h', new Map([['x', new Set(['y'])]])],
    ]),
    warn: () => assert.fail('what is not shown is not warned of'),
  })
  registry.register(gauge('gone'), '', deprecatedFrom(22)).labels().set(1)
  registry.registerPlain(gauge('plain'), '').labels().set(1)
  const kept = registry.register(counter('kept_total', 'verb', 'code'), '')
  for (const verb of ['GET', 'PUT', 'BREW', 'STEEP']) kept.labels(verb, verb.at(0)!).add(1)
  kept.labels('BREW', 'S').add(1)
  registry
    .register(histogram('h', [], 'x'), '')
    .labels('z')
    .observe(1)
  const lines = (await registry.page()).split('\n').filter((line) => !/^(#|$)/.test(line))
  assert.deepEqual(lines, [
    'h_bucket{x="unexpected",le="+Inf"} 1',
    'h_sum{x="unexpected"} 1',
    'h_count{x="unexpected"} 1',
    'kept_total{verb="GET",code="G"} 1',
    'kept_total{verb="PUT",code="P"} 1',
    'kept_total{verb="unexpected",code="B"} 1',
    'kept_total{verb="unexpected",code="S"} 2',
  ])
})

test('infinite values, NaN, and bounds', () => {
  assert.deepEqual([1, Number.POSITIVE_INFINITY, Number.NaN, 1e-7].map(valueText), [
    '1',
    '+Inf',
    'NaN',
    '1e-07',
  ])
  assert.deepEqual(exponentialBounds(1000, 10, 3), [1000, 10_000, 100_000])
})

const since19 = change('test: a new metric', { since: 19 })
const until17 = change('test: an old metric', { until: 17 })
const deprecated = deprecatedFrom(18)
const stable21 = change('test: a stable metric', { since: 21 })
const lives: [LifeCycle, number, boolean, string][] = [
  // life                         release  flag    presence
  [{ stability: 'STABLE' }, 22, false, 'shown'],
  [{ stability: 'ALPHA', only: since19 }, 18, false, 'absent'],
  [{ stability: 'ALPHA', only: until17 }, 18, false, 'absent'],
  [deprecated, 17, false, 'shown'],
  [deprecated, 18, false, 'deprecated'],
  [deprecated, 20, false, 'deprecated'],
  [deprecated, 21, false, 'hidden'],
  [deprecated, 21, true, 'deprecated'],
  [deprecated, 22, true, 'absent'],
  [deprecatedFrom(22), 22, false, 'deprecated'],
  [deprecatedFrom(22), 23, false, 'hidden'],
  [deprecatedFrom(22), 23, true, 'deprecated'],
  [deprecatedFrom(34), 34, false, 'deprecated'],
  [deprecatedFrom(35), 35, false, 'hidden'],
  [{ ...deprecatedFrom(35), stability: 'BETA' }, 35, false, 'deprecated'],
  [{ ...deprecatedFrom(35), stability: 'BETA' }, 36, false, 'hidden'],
  [{ ...deprecatedFrom(34), stability: 'STABLE' }, 36, false, 'deprecated'],
  [{ ...deprecatedFrom(34), stability: 'STABLE' }, 37, false, 'hidden'],
  [{ ...deprecatedFrom(34), stability: 'STABLE' }, 37, true, 'deprecated'],
]
for (const [life, release, flag, expected] of lives) {
  test(`${JSON.stringify(life)} in 1.${release}${flag ? ' with hidden ones' : ''} is ${expected}`, () => {
    assert.equal(presence(life, release, flag), expected)
  })
}

test('help texts contain the stability class of the release and the deprecation', () => {
  assert.equal(helpText(deprecated, 17, 'Text.'), '[ALPHA] Text.')
  assert.equal(helpText(deprecated, 18, 'Text.'), '[ALPHA] (Deprecated from 1.18) Text.')
  assert.equal(helpText({ stability: 'ALPHA', stable: stable21 }, 21, 'Text.'), '[STABLE] Text.')
})

test('hidden metrics are not exposed, and registering a deprecated one warns', async () => {
  const warnings: string[] = []
  const registry = new Registry({ release: 21, warn: (text) => warnings.push(text) })
  registry.register(counter('gone'), 'Gone.', deprecated).labels().add(1)
  registry.register(counter('going'), 'Going.', deprecatedFrom(20)).labels().add(1)
  registry.register(counter('old'), 'Old.', { ...deprecatedFrom(20), replacedBy: 'new' })
  const page = await registry.page()
  assert.doesNotMatch(page, /^gone/m)
  assert.match(page, /^# HELP going \[ALPHA\] \(Deprecated from 1\.20\) Going\.$/m)
  assert.deepEqual(warnings, [
    'the metric going is deprecated from 1.20',
    'the metric old is deprecated from 1.20; use new in dashboards and alerts',
  ])
})

test('only the previous release can be requested', () => {
  assert.equal(showHiddenProblem('1.21', 22), undefined)
  assert.match(showHiddenProblem('1.20', 22) ?? '', /must be omitted or have the value '1\.21'/)
})

/** The class of a metric on the page, and its deprecation: `STABLE`, `ALPHA (Deprecated`. */
async function classOf(release: number, name: string): Promise<string | undefined> {
  const registry = new Registry({ release })
  const metrics = serverMetrics(registry, release)
  const { requests, deprecated: deprecatedApis, objectsBefore, olderRequestLabels } = metrics
  metrics.unnamedWebhooks.add(1)
  const place = ['GET', '', '', 'v1', 'pods', '', 'resource', 'apiserver'] as const
  requests.labels(...place, ...olderRequestLabels, '200').add(1)
  deprecatedApis.labels('', 'v1', 'pods', '', '1.25').set(1)
  objectsBefore.labels('pods').set(1)
  const line = new RegExp(`^# HELP ${name} \\[(\\w+)\\]( \\(Deprecated)?`, 'm')
  const [, stability, notice = ''] = line.exec(await registry.page()) ?? []
  return stability && `${stability}${notice}`
}
checkBoundaries(classOf, [
  ['requests', [20, 21], 'apiserver_request_total', 'ALPHA', 'STABLE'],
  ['deprecated APIs', [21, 22], 'apiserver_requested_deprecated_apis', 'ALPHA', 'STABLE'],
  ['objects of etcd', [21, 22], 'etcd_object_counts', 'ALPHA', 'ALPHA (Deprecated'],
  ['names of webhooks', [36, 37], 'apiserver_webhooks_x509_missing_san_total', 'ALPHA', 'BETA'],
  ['validation rules', [30, 31], 'apiserver_cel_compilation_duration_seconds', 'ALPHA', 'BETA'],
])

test('labels depend on the release', async () => {
  const lines = async (release: number) => {
    const registry = new Registry({ release })
    const { requests, olderRequestLabels, dropped } = serverMetrics(registry, release)
    requests
      .labels(
        'GET',
        '',
        '',
        'v1',
        'pods',
        '',
        'resource',
        'apiserver',
        ...olderRequestLabels,
        '200',
      )
      .add(1)
    dropped.labels('mutating').add(1)
    return (await registry.page()).split('\n').filter((line) => line.includes('_total{'))
  }
  assert.deepEqual(await lines(22), [
    'apiserver_dropped_requests_total{request_kind="mutating"} 1',
    'apiserver_request_total{verb="GET",dry_run="",group="",version="v1",resource="pods",subresource="",scope="resource",component="apiserver",code="200"} 1',
  ])
  assert.match(
    (await lines(15)).join('\n'),
    /requestKind="mutating"[\s\S]*component="apiserver",client="",contentType="",code="200"/,
  )
})

test('large values are formatted like Go', () => {
  const rows: [number, string][] = [
    [999999, '999999'],
    [1000000, '1e+06'],
    [1234567, '1.234567e+06'],
    [1e9, '1e+09'],
    [2 ** 64, '1.8446744073709552e+19'],
    [0.0001, '0.0001'],
    [-2000000, '-2e+06'],
    [0, '0'],
  ]
  for (const [value, text] of rows) assert.equal(valueText(value), text)
})

test('a queue is measured under its name', async () => {
  const registry = new Registry({ release: 22 })
  let nowMs = 1000
  const meter = queueMeters(registry, () => nowMs)('namespace')
  meter.added()
  meter.waiting(1)
  const done = meter.began(2)
  meter.waiting(0)
  nowMs = 1500
  meter.began(2)
  done()
  meter.began(2)
  nowMs = 3000
  const page = await registry.page()
  for (const line of [
    'workqueue_adds_total{name="namespace"} 1',
    'workqueue_depth{name="namespace"} 0',
    'workqueue_queue_duration_seconds_bucket{name="namespace",le="0.001"} 0',
    'workqueue_queue_duration_seconds_bucket{name="namespace",le="0.01"} 3',
    'workqueue_work_duration_seconds_count{name="namespace"} 1',
    'workqueue_work_duration_seconds_sum{name="namespace"} 0.5',
    'workqueue_unfinished_work_seconds{name="namespace"} 3',
    'workqueue_longest_running_processor_seconds{name="namespace"} 1.5',
  ]) {
    assert.ok(page.includes(line), `${line} in ${page}`)
  }
})

test('the depth of queues with one name is their sum', async () => {
  const registry = new Registry({ release: 22 })
  const meterOf = queueMeters(registry)
  const [one, other] = [meterOf('tokens'), meterOf('tokens')]
  const depth = async () =>
    /workqueue_depth\{name="tokens"\} (\d+)/.exec(await registry.page())?.[1]
  one.waiting(3)
  other.waiting(2)
  assert.equal(await depth(), '5')
  other.waiting(0)
  assert.equal(await depth(), '3')
})

test('a page does not wait for slow collectors', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const registry = new Registry({ release: 22 })
  registry.register(gauge('a'), 'A.').labels().set(1)
  registry.collect(() => new Promise(() => {}))
  registry.collect(() => Promise.reject(new Error('away')))
  const page = registry.page()
  t.mock.timers.tick(10_000)
  assert.match(await page, /^a 1$/m)
})
