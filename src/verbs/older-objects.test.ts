/**
 * Objects that an older release stored: how they are read, listed and watched, and when they are
 * rewritten.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { type Fixture, startVerbs } from './fixture.suite.ts'

/** The object as 1.15 stored it, and as it is returned now. */
const labels = { a: 'b' }
const template = {
  metadata: { creationTimestamp: null, labels },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'i:1',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
}
const selector = { matchLabels: labels }
const job = (name: string, more: object = {}) => ({
  kind: 'Job',
  apiVersion: 'batch/v1',
  metadata: { name, namespace: 'default', uid: 'u', creationTimestamp: null, ...more },
  spec: {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    manualSelector: true,
    selector,
    template,
  },
  status: {},
})
const key = (name: string) => `/registry/jobs/default/${name}`
const names = ['a', 'b', 'c']

let verbs: Fixture
before(async () => {
  const storage = createMemoryStorage()
  for (const name of names) {
    const bytes = Buffer.from(JSON.stringify(job(name)))
    await storage.put(key(name), bytes, { ifRevision: 0 })
  }
  verbs = await startVerbs(storage)
})
after(() => verbs.stop())

test('reads add the fields that newer releases added', async () => {
  const { spec } = await verbs.get('jobs', 'a')
  assert.deepEqual([spec.completionMode, spec.suspend], ['NonIndexed', false])
  const { entries } = await verbs.list('jobs')
  for (const { cut } of entries) assert.match(cut.bytes.toString('utf8'), /NonIndexed/)
})

const writes: [name: string, write: (name: string) => Promise<unknown>][] = [
  ['a', async (name) => verbs.update('jobs', await verbs.get('jobs', name))],
  ['b', (name) => verbs.patch('jobs', name, 'merge', {})],
]
for (const [name, write] of writes) {
  test(`a write that changes nothing rewrites the stored object, once: ${name}`, async () => {
    const before = await verbs.get('jobs', name)
    await write(name)
    await verbs.settled()
    const { value } = await verbs.storage.get(key(name))
    assert.match(value?.bytes.toString('utf8') ?? '', /NonIndexed/)
    const written = await verbs.get('jobs', name)
    assert.notEqual(written.metadata.resourceVersion, before.metadata.resourceVersion)
    await write(name)
    assert.deepEqual(await verbs.get('jobs', name), written)
  })
}

test('objects that an older server writes to a shared store are returned alike', async () => {
  const { value } = await verbs.storage.get(key('c'))
  const bytes = Buffer.from(JSON.stringify(job('c', { labels })))
  await verbs.storage.put(key('c'), bytes, { ifRevision: value?.revision ?? 0 })
  await verbs.settled()
  const { metadata, spec } = await verbs.get('jobs', 'c')
  assert.deepEqual([metadata.labels, spec.suspend], [{ a: 'b' }, false])
})
