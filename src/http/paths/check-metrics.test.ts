/** /metrics/slis counts the checks that requests for health endpoints run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { startServed } from '#http/served.fixture.ts'
import { CheckMetrics } from '#observe/metrics/check-metrics.ts'
import { healthPaths } from './health.ts'
import { checkMetricsPath } from './metrics.ts'

let isWell = true
const checks = [
  { name: 'ping', check: () => undefined },
  { name: 'etcd', check: () => (isWell ? undefined : 'away') },
]
const endpoints = { healthz: () => checks, livez: () => checks, readyz: () => checks }

async function serve(release: number) {
  const metrics = new CheckMetrics(release)
  const paths = [
    healthPaths(
      endpoints,
      release,
      () => {},
      () => metrics,
    ),
    checkMetricsPath(() => metrics, true, release),
  ]
  return startServed({ release, paths })
}

test('results are counted by check and endpoint, and DELETE resets them', async () => {
  const served = await serve(37)
  try {
    const page = async () => (await served.ask('GET', '/metrics/slis')).text
    isWell = false
    await served.ask('GET', '/readyz')
    isWell = true
    await served.ask('GET', '/readyz')
    await served.ask('GET', '/livez?exclude=etcd')
    // A single check is not measured.
    await served.ask('GET', '/readyz/ping')
    assert.deepEqual(
      (await page()).split('\n').filter((line) => line !== '' && !line.startsWith('#')),
      [
        'kubernetes_healthcheck{name="ping",type="readyz"} 1',
        'kubernetes_healthcheck{name="etcd",type="readyz"} 1',
        'kubernetes_healthcheck{name="ping",type="livez"} 1',
        'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 2',
        'kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1',
        'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1',
      ],
    )
    assert.match(await page(), /# HELP kubernetes_healthcheck \[STABLE\] /)
    assert.equal((await served.ask('DELETE', '/metrics/slis')).text, 'metrics reset\n')
    assert.doesNotMatch(await page(), /readyz/)
  } finally {
    await served.stop()
  }
})

checkBoundaries(
  async (release, path: string) => {
    const served = await serve(release)
    try {
      return (await served.ask('GET', path)).status
    } finally {
      await served.stop()
    }
  },
  [['the page', [26, 27], '/metrics/slis', 404, 200]],
)

checkBoundaries(
  async (release, name: string) => {
    const metrics = new CheckMetrics(release)
    metrics.checked('ping', 'readyz', true)
    return new RegExp(`# HELP ${name} \\[(\\w+)\\]`).exec(await metrics.page())?.[1]
  },
  [
    ['the class of results', [27, 28], 'kubernetes_healthcheck', 'ALPHA', 'BETA'],
    ['the class of counts', [28, 29], 'kubernetes_healthchecks_total', 'BETA', 'STABLE'],
  ],
)
