import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import { keepJob } from '#controllers/kept.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { jobs } from '#controllers/resources.ts'
import { finishedJobs } from './finished-jobs.ts'

const endedAt = '2024-01-01T00:00:00Z'
const job = (
  ttlSecondsAfterFinished: number | undefined,
  ...conditions: string[][]
): KubeObject => ({
  metadata: { name: 'j', namespace: 'ns', uid: 'u' },
  spec: { ...(ttlSecondsAfterFinished !== undefined && { ttlSecondsAfterFinished }) },
  status: {
    conditions: conditions.map(([type, status]) => ({ type, status, lastTransitionTime: endedAt })),
  },
})
const complete = ['Complete', 'True']
const rows: [name: string, job: KubeObject, seconds: number | undefined][] = [
  ['complete', job(10, complete), 10],
  ['failed', job(10, ['Failed', 'True']), 10],
  ['at once', job(0, complete), 0],
  ['after a pause', job(10, ['Suspended', 'False'], complete), 10],
  ['still running', job(10), undefined],
  ['not complete', job(10, ['Complete', 'False']), undefined],
  ['paused', job(10, ['Suspended', 'True']), undefined],
  ['may stay for ever', job(undefined, complete), undefined],
]
for (const [name, object, seconds] of rows) {
  test(`a job that is ${name} goes ${seconds === undefined ? 'never' : `after ${seconds} s`}`, () => {
    const expected = seconds === undefined ? undefined : Date.parse(endedAt) + seconds * 1000
    assert.equal(keepJob(object)?.endsAtMs, expected)
  })
}

test('a job whose time is over is deleted with what it owns; one with time left stays', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    const template = {
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
    }
    for (const [name, seconds] of [
      ['over', 0],
      ['left', 1000],
    ] as const) {
      const spec = { ttlSecondsAfterFinished: seconds, template }
      const made = await client.create(jobs, 'default', { metadata: { name }, spec })
      const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '')
      const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime }]
      await client.update(jobs, { ...made, status: { ...made.status, conditions } }, 'status')
    }
    cluster.run(finishedJobs)
    const find = (name: string) => unlessMissing(client.get(jobs, 'default', name))
    await until(
      'it is going',
      async () => (await find('over'))?.metadata.deletionTimestamp !== undefined,
    )
    assert.deepEqual((await find('over'))?.metadata.finalizers, ['foregroundDeletion'])
    assert.equal((await find('left'))?.metadata.deletionTimestamp, undefined)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})
