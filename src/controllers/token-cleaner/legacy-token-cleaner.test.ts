/** Generated tokens that are unused: which are labelled as invalid, which are deleted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { configMaps, pods, secrets, serviceAccounts } from '#controllers/resources.ts'
import { legacyTokenCleaner } from './legacy-token-cleaner.ts'
import { secretNamesOf } from './pod-secrets.ts'

const dayMs = 24 * 3_600_000
const invalidKey = 'kubernetes.io/legacy-token-invalid-since'
const usedKey = 'kubernetes.io/legacy-token-last-used'
const laterMs = 30 * dayMs
const dayAfter = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)

const rows: [what: string, labels: Loose, isListed: boolean, isMounted: boolean, end: string][] = [
  ['unused', {}, true, false, dayAfter(30)],
  ['used long ago', { [usedKey]: dayAfter(1) }, true, false, dayAfter(30)],
  ['used lately', { [usedKey]: dayAfter(25) }, true, false, ''],
  ['used at an unclear time', { [usedKey]: 'x' }, true, false, ''],
  ['made by a user', {}, false, false, ''],
  ['in a pod', {}, true, true, ''],
  ['invalid for long', { [invalidKey]: dayAfter(1) }, true, false, 'deleted'],
  ['invalid since lately', { [invalidKey]: dayAfter(25) }, true, false, dayAfter(25)],
  ['invalid since an unclear time', { [invalidKey]: 'x' }, true, false, dayAfter(30)],
]

test('legacy tokens', async () => {
  const cluster = await startCluster({ release: 37 })
  const { client, surroundings } = cluster
  try {
    const nameOf = (i: number) => `t${i}`
    const account = {
      metadata: { name: 'bot' },
      secrets: rows.flatMap((row, i) => (row[2] ? [{ name: nameOf(i) }] : [])),
    }
    await client.create(serviceAccounts, 'default', account as KubeObject)
    for (const [i, [, labels]] of rows.entries()) {
      const annotations = { 'kubernetes.io/service-account.name': 'bot' }
      const metadata = { name: nameOf(i), labels, annotations }
      const type = 'kubernetes.io/service-account-token'
      await client.create(secrets, 'default', { metadata, type })
    }
    const volumes = rows.flatMap((row, i) =>
      row[3] ? [{ name: 'v', secret: { secretName: nameOf(i) } }] : [],
    )
    const spec = { containers: [{ name: 'c', image: 'i' }], volumes }
    await client.create(pods, 'default', { metadata: { name: 'p' }, spec })
    const tracking = {
      metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking' },
      data: { since: dayAfter(-1) },
    }
    await client.create(configMaps, 'kube-system', tracking)
    const { clock } = surroundings
    const later = { ...clock, now: () => clock.now() + laterMs, after: () => () => {} }
    Object.assign(surroundings, { clock: later, legacyTokenUnusedMs: 10 * dayMs })
    cluster.run(legacyTokenCleaner)
    const ends = () =>
      Promise.all(
        rows.map(async (_, i) => {
          const secret = await unlessMissing(client.get(secrets, 'default', nameOf(i)))
          return secret === undefined ? 'deleted' : (secret.metadata.labels?.[invalidKey] ?? '')
        }),
      )
    await until('the last label', async () => (await ends()).at(-1) === dayAfter(30))
    assert.deepEqual(
      await ends(),
      rows.map((row) => row[4]),
    )
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('the Secrets of a pod', () => {
  const spec = {
    imagePullSecrets: [{ name: 'a' }],
    initContainers: [{ envFrom: [{ secretRef: { name: 'b' } }, { configMapRef: { name: 'x' } }] }],
    containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'c' } } }, { value: 'x' }] }],
    volumes: [
      { projected: { sources: [{ secret: { name: 'd' } }, {}] } },
      { csi: { nodePublishSecretRef: { name: 'e' } } },
      { azureFile: { secretName: 'f' } },
      { iscsi: { secretRef: { name: 'g' } } },
      { emptyDir: {} },
    ],
  }
  assert.deepEqual(
    secretNamesOf({ metadata: {}, spec } as KubeObject)
      .sort()
      .join(''),
    'abcdefg',
  )
})
