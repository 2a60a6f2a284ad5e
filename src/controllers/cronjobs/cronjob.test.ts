import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { systemClock, type TimerClock } from '#base/clock.ts'
import type { ApiClient } from '#client/client.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import { Informers } from '#controllers/informers.ts'
import { cronJobs, jobs } from '#controllers/resources.ts'
import { cronJobController } from './cronjob.ts'

const cronJob = (concurrencyPolicy: string): KubeObject => ({
  metadata: { name: 'c', namespace: 'default' },
  spec: {
    schedule: '*/5 * * * *',
    timeZone: 'UTC',
    concurrencyPolicy,
    jobTemplate: {
      metadata: { labels: { a: 'b' } },
      spec: {
        template: {
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
        },
      },
    },
  },
})
/** Real timers, and a wall clock that the test sets. */
function settableClock(): TimerClock & { set(ms: number): void } {
  let now = Date.now()
  return { ...systemClock, now: () => now, set: (ms) => (now = ms) }
}

const fiveMinutesMs = 5 * 60_000
const namesOf = async (client: ApiClient) =>
  (await client.list(jobs, 'default')).items.map(({ metadata }) => metadata.name)
const rows: [policy: string, left: (first: string, second: string) => string[]][] = [
  ['Allow', (first, second) => [first, second]],
  ['Forbid', (first) => [first]],
  ['Replace', (_, second) => [second]],
]
for (const [policy, left] of rows)
  test(`jobs of a cron job with the policy ${policy}`, async () => {
    const cluster = await startCluster({ release: 37 })
    const stop = new AbortController()
    const clock = settableClock()
    const start = () => {
      const { surroundings } = cluster
      const client = surroundings.clientFor('cronjob-controller')
      const { signal } = stop
      const informers = new Informers(client, signal, surroundings.report)
      cronJobController.start({ ...surroundings, clock, client, informers, signal })
    }
    try {
      const { client } = cluster
      const live = () => client.get(cronJobs, 'default', 'c')
      const created = await client.create(cronJobs, 'default', cronJob(policy))
      start()
      const due = (n: number) =>
        (Math.floor(Date.parse(created.metadata.creationTimestamp as string) / fiveMinutesMs) + n) *
        fiveMinutesMs
      const nameAt = (n: number) => `c-${due(n) / 60_000}`
      /** A write of the cron job makes the controller look at its clock. */
      const advance = async (n: number) => {
        clock.set(due(n) + 1000)
        await client.patch(cronJobs, 'default', 'c', { metadata: { labels: { n: `${n}` } } })
      }
      assert.deepEqual(await namesOf(client), [])
      await advance(1)
      await until('one is active', async () => (await live()).status?.active?.length === 1)
      assert.deepEqual(await namesOf(client), [nameAt(1)])
      const [first] = (await client.list(jobs, 'default')).items
      assert.equal(first?.metadata.labels?.a, 'b')
      assert.equal(
        first?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'],
        `${new Date(due(1)).toISOString().slice(0, 19)}Z`,
      )
      await advance(2)
      const expected = left(nameAt(1), nameAt(2))
      await until('the others', async () => {
        const names = (await live()).status?.active?.map(({ name }: { name: string }) => name)
        return names?.join() === expected.join()
      })
      if (policy === 'Forbid')
        await until('an event says so', async () => {
          const { items } = await client.list(
            { group: '', version: 'v1', plural: 'events' },
            'default',
          )
          return items.some(({ reason }) => reason === 'JobAlreadyActive')
        })
      assert.deepEqual(cluster.complaints, [])
    } finally {
      stop.abort()
      await cluster.stop()
    }
  })
