/**
 * Forks that are taken while clients write, and processes that end after their clusters are closed.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { KubeObject } from '#api/object-meta.ts'
import { startCluster } from './start-cluster.ts'
import type { TestCluster } from './test-cluster.ts'

const writers = 8
const forkCount = 12

const reference = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

/**
 * One acknowledged write: the object has this text since this revision; without text it was
 * deleted.
 */
interface Write {
  readonly revision: number
  readonly name: string
  readonly text: string | undefined
}

/** The objects at a revision, according to the history. */
function stateAt(history: readonly Write[], revision: number): Map<string, string> {
  const state = new Map<string, string>()
  for (const write of history.toSorted((a, b) => a.revision - b.revision)) {
    if (write.revision > revision) break
    if (write.text === undefined) state.delete(write.name)
    else state.set(write.name, write.text)
  }
  return state
}

/** Records the history as a watcher of the origin gets it. */
async function record(cluster: TestCluster, history: Write[], signal: AbortSignal): Promise<void> {
  const options = { resourceVersion: `${cluster.revision}`, signal }
  for await (const { type, object } of cluster.client.watch(reference(''), options)) {
    const { name, resourceVersion } = object.metadata
    const text = type === 'DELETED' ? undefined : object.data?.text
    history.push({ revision: Number(resourceVersion), name: name ?? '', text })
  }
}

async function seen(history: readonly Write[], name: string): Promise<void> {
  for (let i = 0; i < 500 && history.at(-1)?.name !== name; i++) await sleep(10)
  assert.equal(history.at(-1)?.name, name, 'the watch delivers the last write within 5 s')
}

async function writeUntil(cluster: TestCluster, own: string, isOver: () => boolean): Promise<void> {
  const { client } = cluster
  for (let n = 0; !isOver(); n++) {
    const name = `${own}-${n % 5}`
    const object: KubeObject = { ...reference(name), data: { text: `${n}` } }
    await client.create(object)
    await client.patch(reference(name), { data: { text: `${n} again` } })
    // Deletes the least recently written of five objects.
    if (n >= 4) await client.delete(reference(`${own}-${(n + 1) % 5}`))
  }
}

test('a fork taken under write load contains exactly one revision', async () => {
  await using cluster = await startCluster({ controllers: ['-*'] })
  await cluster.open()
  const history: Write[] = []
  const ended = new AbortController()
  const recorder = record(cluster, history, ended.signal)
  let isOver = false
  const load = Array.from({ length: writers }, (_, n) => writeUntil(cluster, `w${n}`, () => isOver))
  const forks: TestCluster[] = []
  const revisions: number[] = []
  for (let i = 0; i < forkCount; i++) {
    await sleep(20 + 7 * i)
    forks.push(await cluster.fork())
    revisions.push(forks.at(-1)?.revision ?? 0)
  }
  isOver = true
  await Promise.all(load)
  await cluster.client.create(reference('last'))
  await Promise.race([recorder, seen(history, 'last')])
  ended.abort()
  await recorder.catch(() => {})
  assert.equal(new Set(revisions).size, forkCount, 'clients wrote between the forks')
  for (const [i, fork] of forks.entries()) {
    const { items } = await fork.client.list({
      ...reference(''),
      metadata: { namespace: 'default' },
    })
    const found = new Map(
      items
        .filter(({ metadata }) => metadata.name?.startsWith('w'))
        .map(({ metadata, data }) => [metadata.name ?? '', data.text]),
    )
    assert.deepEqual(found, stateAt(history, revisions[i] ?? 0), `revision ${revisions[i]}`)
  }
})

test('a process ends by itself when its clusters are closed', async () => {
  const script = `
    import { startCluster } from '#testing/start-cluster.ts'
    const cluster = await startCluster()
    const fork = await cluster.fork()
    await fork.client.list({ apiVersion: 'v1', kind: 'Namespace' })
    const events = fork.client.watch({ apiVersion: 'v1', kind: 'Namespace' })[Symbol.asyncIterator]()
    await events.next()
    await fork.reset()
    await cluster.clock.advance('1h')
    await cluster.close()
    console.log('closed')`
  const args = ['--input-type=module-typescript', '-e', script]
  const root = new URL('../..', import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: root,
    timeout: 60_000,
  })
  assert.equal(stdout.trim(), 'closed')
})
