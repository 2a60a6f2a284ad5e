/** Which names, labels, classes and buckets the metrics of the API server have in each release. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { flowMeters } from '#observe/fairness/flow-meters.ts'
import { queueMeters } from './queue-metrics.ts'
import { Registry } from './registry.ts'
import { serverMetrics } from './server-metrics.ts'

/** The page of a release after each metric was observed once. */
async function pageOf(release: number, showHidden = false): Promise<string> {
  const registry = new Registry({ release, showHidden })
  const metrics = serverMetrics(registry, release)
  const place = ['apps', 'v1', 'deployments', '', 'cluster', 'apiserver']
  const resource = metrics.resourceLabels('apps', 'deployments')
  const watch = metrics.watchLabels('apps', 'v1', 'Deployment', 'deployments')
  const group = metrics.labelsNameGroups ? ['apps'] : []
  metrics.longRunning.labels('WATCH', ...place).add(1)
  metrics.durations.labels('GET', '', ...place).observe(1)
  metrics.answerSizes.labels('GET', ...place).observe(1)
  metrics.dropped.labels('mutating').add(1)
  metrics.inFlight.labels('mutating').set(1)
  metrics.selfRequests.labels('GET', ...group, 'deployments', '').add(1)
  metrics.filterDurations.labels('authentication').observe(1)
  metrics.admissionSteps.labels('admit', 'CREATE', 'false').observe(1)
  metrics.admissionWebhooks.labels('a', 'admit', 'CREATE', 'false').observe(1)
  metrics.watchers.labels('apps', 'v1', 'Deployment').add(1)
  metrics.watchEvents.labels(...watch).add(1)
  metrics.initEvents.labels(...resource).add(1)
  metrics.watchCacheCapacity.labels(...resource).set(1)
  metrics.objectsByGroup.labels('apps', 'deployments').set(1)
  metrics.objects.labels('deployments.apps').set(1)
  metrics.objectsBefore.labels('deployments.apps').set(1)
  metrics.storeSizes.labels('http://a').set(1)
  metrics.clusterSizes.labels('etcd-0').set(1)
  metrics.storeDurations
    .labels('get', ...(group.length > 0 ? ['apps', 'deployments'] : ['*apps.Deployment']))
    .observe(1)
  const flows = flowMeters(registry, release)
  flows.limit('level', 5)
  const flow = flows.of('level', 'schema')
  flow.executing.value++
  flow.executionSeconds.observe(1)
  flow.watchSeconds.observe(1)
  flow.waitSeconds.observe(1)
  flow.dispatched.value++
  queueMeters(registry)('queue').added()
  return registry.page()
}

const pages = new Map<number, Promise<string>>()
function page(release: number): Promise<string> {
  const known = pages.get(release) ?? pageOf(release)
  pages.set(release, known)
  return known
}

/** `STABLE {verb="…"} 1`, with `(Deprecated` between; undefined if it is absent. */
async function shownIn(release: number, name: string): Promise<string | undefined> {
  const text = await page(release)
  const help = new RegExp(`^# HELP ${name} \\[(\\w+)\\]( \\(Deprecated)?`, 'm').exec(text)
  const sample = new RegExp(`^${name}(?:_total|_count)?(\\{.*\\} .*)$`, 'm').exec(text)
  return help === null ? undefined : [help[1], help[2] ?? '', ' ', sample?.[1]].join('')
}

const running =
  '{verb="WATCH",group="apps",version="v1",resource="deployments",subresource="",scope="cluster",component="apiserver"} 1'
const ofKind = '{group="apps",version="v1",kind="Deployment"} 1'
const ofResource = '{group="apps",version="v1",resource="deployments"} 1'
const qualified = '{resource="deployments.apps"} 1'
const byGroup = '{group="apps",resource="deployments"} 1'
const ofLevel = '{priority_level="level"} 5'
const ofFlow = '{priority_level="level",flow_schema="schema"} 1'
const flowcontrol = 'apiserver_flowcontrol'
const [inUse, limit] = ['concurrency_in_use', 'concurrency_limit'].map(
  (name) => `${flowcontrol}_request_${name}`,
) as [string, string]
const [executing, nominal] = ['current_executing_seats', 'nominal_limit_seats'].map(
  (name) => `${flowcontrol}_${name}`,
) as [string, string]
const selfRequests = 'apiserver_selfrequest_total'
const dbSizes = 'apiserver_storage_db_total_size_in_bytes'
const sizes = 'apiserver_storage_size_bytes'
const endpoint = '{endpoint="http://a"} 1'

checkBoundaries(shownIn, [
  ['running', [22, 23], 'apiserver_longrunning_requests', undefined, `ALPHA ${running}`],
  ['running', [24, 25], 'apiserver_longrunning_requests', `ALPHA ${running}`, `STABLE ${running}`],
  [
    'running, old name',
    [22, 23],
    'apiserver_longrunning_gauge',
    `ALPHA ${running}`,
    `ALPHA (Deprecated ${running}`,
  ],
  [
    'running, old name',
    [23, 24],
    'apiserver_longrunning_gauge',
    `ALPHA (Deprecated ${running}`,
    undefined,
  ],
  [
    'watchers',
    [22, 23],
    'apiserver_registered_watchers',
    `ALPHA ${ofKind}`,
    `ALPHA (Deprecated ${ofKind}`,
  ],
  ['watchers', [23, 24], 'apiserver_registered_watchers', `ALPHA (Deprecated ${ofKind}`, undefined],
  [
    'rejected for now',
    [23, 24],
    'apiserver_dropped_requests_total',
    'ALPHA {request_kind="mutating"} 1',
    'ALPHA (Deprecated {request_kind="mutating"} 1',
  ],
  [
    'rejected for now',
    [24, 25],
    'apiserver_dropped_requests_total',
    'ALPHA (Deprecated {request_kind="mutating"} 1',
    undefined,
  ],
  [
    'requests in flight',
    [22, 23],
    'apiserver_current_inflight_requests',
    'ALPHA {request_kind="mutating"} 1',
    'STABLE {request_kind="mutating"} 1',
  ],
  [
    'watch events',
    [33, 34],
    'apiserver_watch_events_total',
    `ALPHA ${ofKind}`,
    `ALPHA ${ofResource}`,
  ],
  [
    'watch events',
    [36, 37],
    'apiserver_watch_events_total',
    `ALPHA ${ofResource}`,
    `BETA ${ofResource}`,
  ],
  [
    'first events',
    [33, 34],
    'apiserver_init_events_total',
    `ALPHA ${qualified}`,
    `ALPHA ${byGroup}`,
  ],
  ['watch cache', [33, 34], 'watch_cache_capacity', `ALPHA ${qualified}`, `ALPHA ${byGroup}`],
  [
    'own requests',
    [33, 34],
    selfRequests,
    'ALPHA {verb="GET",resource="deployments",subresource=""} 1',
    'ALPHA {verb="GET",group="apps",resource="deployments",subresource=""} 1',
  ],
  ['objects', [33, 34], 'apiserver_resource_objects', undefined, `ALPHA ${byGroup}`],
  [
    'objects, old name',
    [34, 35],
    'apiserver_storage_objects',
    `STABLE ${qualified}`,
    `STABLE (Deprecated ${qualified}`,
  ],
  [
    'objects, old name',
    [36, 37],
    'apiserver_storage_objects',
    `STABLE (Deprecated ${qualified}`,
    undefined,
  ],
  ['objects of etcd', [22, 23], 'etcd_object_counts', `ALPHA (Deprecated ${qualified}`, undefined],
  ['size', [25, 26], 'etcd_db_total_size_in_bytes', `ALPHA ${endpoint}`, undefined],
  ['size', [25, 26], dbSizes, undefined, `ALPHA ${endpoint}`],
  ['size', [27, 28], dbSizes, `ALPHA ${endpoint}`, `ALPHA (Deprecated ${endpoint}`],
  ['size', [28, 29], dbSizes, `ALPHA (Deprecated ${endpoint}`, undefined],
  ['size', [27, 28], sizes, undefined, 'ALPHA {cluster="etcd-0"} 1'],
  ['size', [29, 30], sizes, 'ALPHA {cluster="etcd-0"} 1', 'STABLE {storage_cluster_id="etcd-0"} 1'],
  ['nominal seats', [25, 26], nominal, undefined, `ALPHA ${ofLevel}`],
  ['nominal seats', [27, 28], nominal, `ALPHA ${ofLevel}`, `BETA ${ofLevel}`],
  ['executing seats', [27, 28], executing, undefined, `BETA ${ofFlow}`],
  ['seats, old name', [29, 30], limit, `ALPHA ${ofLevel}`, `ALPHA (Deprecated ${ofLevel}`],
  ['seats, old name', [30, 31], limit, `ALPHA (Deprecated ${ofLevel}`, undefined],
  ['seats in use, old name', [30, 31], inUse, `ALPHA ${ofFlow}`, `ALPHA (Deprecated ${ofFlow}`],
  ['seats in use, old name', [31, 32], inUse, `ALPHA (Deprecated ${ofFlow}`, undefined],
  [
    'dispatched',
    [27, 28],
    `${flowcontrol}_dispatched_requests_total`,
    `ALPHA ${ofFlow}`,
    `BETA ${ofFlow}`,
  ],
  ['queues', [35, 36], 'workqueue_adds_total', 'ALPHA {name="queue"} 1', 'BETA {name="queue"} 1'],
])

/** The bounds of the buckets of a histogram. */
async function boundsIn(release: number, name: string): Promise<string[]> {
  const found = (await page(release)).matchAll(new RegExp(`^${name}_bucket\\{.*?le="(.*?)"`, 'gm'))
  return [...new Set([...found].map(([, bound]) => bound as string))]
}

const usual = '0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60 +Inf'
const short = `0.005 0.025 ${usual}`
const filters = '0.0001 0.0003 0.001 0.003 0.01 0.03 0.1 0.3 1 5'
const admission = 'apiserver_admission'
const flowBounds = '0 0.005 0.02 0.05 0.1 0.2 0.5 1 2 5 10'
const before =
  '0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60 +Inf'
const steps = '0.005 0.025 0.1 0.5'
checkBoundaries(
  async (release, name: string) => (await boundsIn(release, name)).join(' '),
  [
    ['requests', [22, 23], 'apiserver_request_duration_seconds', before, usual],
    ['requests', [24, 25], 'apiserver_request_duration_seconds', usual, short],
    [
      'store',
      [24, 25],
      'etcd_request_duration_seconds',
      '0.005 0.025 0.1 0.25 0.5 1 2 4 15 30 60 +Inf',
      short,
    ],
    [
      'steps',
      [22, 23],
      `${admission}_step_admission_duration_seconds`,
      `${steps} 2.5 +Inf`,
      `${steps} 1 2.5 +Inf`,
    ],
    [
      'webhooks',
      [26, 27],
      `${admission}_webhook_admission_duration_seconds`,
      `${steps} 1 2.5 +Inf`,
      `${steps} 1 2.5 10 25 +Inf`,
    ],
    [
      'filters',
      [27, 28],
      'apiserver_request_filter_duration_seconds',
      `${filters} +Inf`,
      `${filters} 10 15 30 +Inf`,
    ],
    [
      'waits',
      [27, 28],
      `${flowcontrol}_request_wait_duration_seconds`,
      `${flowBounds} 30 +Inf`,
      `${flowBounds} 15 30 +Inf`,
    ],
  ],
)

checkBoundaries(
  async (release, name: string) =>
    (await page(release)).split('\n').filter((line) => line.startsWith(`${name}_count`)),
  [
    [
      'requests to the store',
      [33, 34],
      'etcd_request_duration_seconds',
      ['etcd_request_duration_seconds_count{operation="get",type="*apps.Deployment"} 1'],
      [
        'etcd_request_duration_seconds_count{operation="get",group="apps",resource="deployments"} 1',
      ],
    ],
    [
      'executions',
      [23, 24],
      `${flowcontrol}_request_execution_seconds`,
      [
        `${flowcontrol}_request_execution_seconds_count{priority_level="level",flow_schema="schema"} 2`,
      ],
      ['regular', 'watch'].map(
        (type) =>
          `${flowcontrol}_request_execution_seconds_count{priority_level="level",flow_schema="schema",type="${type}"} 1`,
      ),
    ],
  ],
)

for (const [release, name, isShown] of [
  [24, 'apiserver_longrunning_gauge', true],
  [25, 'apiserver_longrunning_gauge', false],
  [24, 'etcd_object_counts', true],
  [25, 'etcd_object_counts', false],
  [36, limit, true],
  [37, limit, false],
  [36, inUse, true],
  [37, inUse, false],
  [36, dbSizes, true],
  [37, dbSizes, false],
  [37, 'apiserver_storage_objects', true],
] as const)
  test(`with hidden metrics, 1.${release} ${isShown ? 'shows' : 'lacks'} ${name}`, async () => {
    assert.equal((await pageOf(release, true)).includes(`# TYPE ${name} `), isShown)
  })
