/** Which requests `explore` counts as writes, and what it reports of a run without its accident. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explore } from './explore.ts'
import { startCluster } from './start-cluster.ts'
import type { TestClient } from './test-client.ts'

const userAgent = 'controller'
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})
const review = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
}

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

type Work = (client: TestClient, run: number) => Promise<unknown>

test('successful writes are counted, and accidents that never happened are reported', async () => {
  await using cluster = await startCluster({ controllers: ['-*'] })
  const rows: [title: string, work: Work, writes: number, missed: string[], found: number][] = [
    [
      'a failed write does not count',
      async (client) => {
        await client.update(configMap('absent')).catch(() => {})
        await client.create(configMap('a'))
      },
      1,
      [],
      0,
    ],
    ['an object that is not stored', (client) => client.request('POST', reviews, review), 1, [], 0],
    [
      'only the first run writes twice',
      async (client, run) => {
        await client.create(configMap('a'))
        if (run === 1) await client.create(configMap('b'))
      },
      2,
      ['intermediate at write 2'],
      // The other run differs, too: its scenario creates one object less.
      1,
    ],
  ]
  for (const [title, work, writes, missed, found] of rows) {
    let run = 0
    const report = await explore({
      cluster,
      userAgent,
      accidents: ['intermediate'],
      controller: () => Promise.resolve({ stop() {} }),
      scenario: (fork) => work(fork.clientNamed(userAgent), ++run).catch(() => {}),
    })
    assert.equal(report.writes, writes, title)
    const places = report.missed.map(({ accident, write }) => `${accident} at write ${write}`)
    assert.deepEqual(places, missed, title)
    assert.equal(report.findings.length, found, title)
  }
})
