import assert from 'node:assert/strict'
import { SortedMap } from '#base/sorted-map.ts'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { type Change, RevisionCompacted, type Storage } from '#storage/storage.ts'
import { type CatchUpParts, catchUp } from './catch-up.ts'
import type { Entry } from './entry.ts'
import { entryMaker } from './entry-maker.ts'
import { overlaid, parse, plainResource, root, settle, thing } from './picture.suite.ts'
import { ResourceCache } from './resource-cache.ts'
import { Watcher } from './watcher.ts'

type Labels = Record<string, string>
type Step = [name: string, labels?: Labels | null, namespace?: string]

const selected: Labels = { app: 'web' }
const keyOf = (name: string, namespace: string) => `${root}/things/${namespace}/${name}`

/** A store with a past, and a cache of it that was loaded after all of that. */
class Past {
  readonly storage = createMemoryStorage()
  readonly resource = plainResource('things')
  readonly maker = entryMaker(this.resource, parse)
  #cache: ResourceCache | undefined
  #last: Change[] = []

  /** `null` as labels deletes the object. Returns the last revision. */
  async write(...steps: Step[]): Promise<number> {
    let revision = 0
    for (const [name, labels, namespace = 'a'] of steps) {
      const key = keyOf(name, namespace)
      const ifRevision = (await this.storage.get(key)).value?.revision ?? 0
      const bytes = labels === null ? undefined : thing(namespace, name, labels)
      const outcome = bytes
        ? await this.storage.put(key, bytes, { ifRevision })
        : await this.storage.delete(key, { ifRevision })
      assert.ok(outcome.ok)
      revision = outcome.revision
      this.#last.push({ key, revision, bytes })
    }
    return revision
  }

  /** Waits until the cache has all writes. */
  async seen(): Promise<void> {
    const cache = await this.cache()
    for (const change of this.#last.splice(0)) cache.apply(change, 0)
  }

  async cache(): Promise<ResourceCache> {
    if (this.#cache !== undefined) return this.#cache
    const { revision, value } = await this.storage.list({ start: `${root}/`, end: `${root}0` })
    const entries = new SortedMap<Entry>()
    for (const item of value.items)
      entries.set(item.key, this.maker.make(item.key, item.revision, item.bytes))
    const limits = { eventsMax: 100, ageMsMax: 1e6 }
    this.#cache = new ResourceCache(this.resource, this.maker, { entries, revision }, limits)
    return this.#cache
  }

  async watch(
    from: number,
    watcher = new Watcher('', undefined),
    more: Partial<CatchUpParts> = {},
  ) {
    const cache = await this.cache()
    const parts = {
      storage: this.storage,
      parse,
      cache,
      watcher,
      from,
      beforeDefined: false,
      report: () => {},
      ...more,
    }
    return catchUp(parts)
  }
}

const stated = (watcher: Watcher) =>
  watcher
    .take()
    .map(({ type, event }) => `${type} ${(event.entry ?? event.previous)?.name}`)
    .join(', ')

async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await settle()
}

test('the past is delivered in order, then the cache takes over, and nothing is delivered twice', async () => {
  const past = new Past()
  const from = await past.write(['old'], ['gone'])
  await past.write(['old'], ['new'], ['gone', null], ['new'])
  const watcher = new Watcher('', undefined)
  const behind = await past.watch(from, watcher)
  assert.equal(behind?.progress, from)
  await turns()
  assert.equal(stated(watcher), 'MODIFIED old, ADDED new, DELETED gone, MODIFIED new')
  assert.equal(behind?.progress, undefined)
  await past.write(['later'])
  await past.seen()
  assert.equal(stated(watcher), 'ADDED later')
  behind?.stop()
  await past.write(['unheard'])
  await past.seen()
  assert.equal(stated(watcher), '')
})

const scopes: [title: string, namespace: string, steps: Step[], expected: string][] = [
  [
    'one namespace, not one that begins alike',
    'a',
    [['x'], ['y', {}, 'ab'], ['z', {}, 'b']],
    'ADDED x',
  ],
  ['all namespaces', '', [['x'], ['y', {}, 'ab']], 'ADDED x, ADDED y'],
  ['a deletion of what came in the meantime', '', [['x'], ['x', null]], 'ADDED x, DELETED x'],
]
for (const [title, namespace, steps, expected] of scopes) {
  test(`the past of ${title}`, async () => {
    const past = new Past()
    const from = await past.write(['first', {}, 'other'])
    await past.write(...steps)
    const watcher = new Watcher(namespace, undefined)
    await past.watch(from, watcher)
    await turns()
    assert.equal(stated(watcher), expected)
  })
}

const selections: [title: string, before: Labels, after: Labels | null, expected: string][] = [
  ['stays', selected, selected, 'MODIFIED x'],
  ['comes', {}, selected, 'ADDED x'],
  ['leaves', selected, {}, 'DELETED x'],
  ['never was', {}, {}, ''],
  ['is deleted', selected, null, 'DELETED x'],
  ['is deleted unseen', {}, null, ''],
]
for (const [title, before, after, expected] of selections) {
  test(`a watch with a selector receives ${title}: ${expected || 'nothing'}`, async () => {
    const past = new Past()
    const from = await past.write(['x', before])
    await past.write(['x', after])
    const watcher = new Watcher('', ({ labels }) => labels?.app === 'web')
    await past.watch(from, watcher)
    await turns()
    assert.equal(stated(watcher), expected)
  })
}

test('if the store is ahead of the cache, its events are not repeated', async () => {
  const past = new Past()
  const from = await past.write(['x'])
  await past.write(['x'])
  await past.cache()
  await past.seen()
  await past.write(['ahead'])
  const watcher = new Watcher('', undefined)
  await past.watch(from, watcher)
  await turns()
  assert.equal(stated(watcher), 'MODIFIED x, ADDED ahead')
  await past.seen()
  assert.equal(stated(watcher), '')
  await past.write(['next'])
  await past.seen()
  assert.equal(stated(watcher), 'ADDED next')
})

test('history that was compacted, or that precedes the definition, cannot be delivered', async () => {
  const past = new Past()
  const first = await past.write(['x'])
  const second = await past.write(['x'])
  const third = await past.write(['x'])
  Object.assign(past.resource, { since: second })
  assert.equal(await past.watch(first), undefined)
  assert.ok(await past.watch(first, undefined, { beforeDefined: true }))
  assert.ok(await past.watch(second))
  await past.storage.compact(third)
  assert.equal(await past.watch(second), undefined)
  assert.ok(await past.watch(third))
})

test('whether the store has the history is checked without reading objects', async () => {
  const past = new Past()
  const from = await past.write(['x'])
  await past.cache()
  const list = async () => assert.fail('a list')
  const storage = overlaid(past.storage, { list })
  const behind = await past.watch(from, undefined, { storage })
  assert.ok(behind)
  behind.stop()
})

test('a store error is not taken for a compacted history', async () => {
  const past = new Past()
  const from = await past.write(['x'])
  const get = async () => Promise.reject(new Error('away'))
  const storage = overlaid(past.storage, { get })
  await assert.rejects(past.watch(from, undefined, { storage }), /away/)
})

test('an unreadable change is skipped and logged', async () => {
  const past = new Past()
  const from = await past.write(['old'])
  const key = keyOf('x', 'a')
  await past.storage.put(key, Buffer.from('{"metadata":null}'), { ifRevision: 0 })
  await past.write(['x'], ['new'])
  const watcher = new Watcher('', undefined)
  const reported: string[] = []
  const behind = await past.watch(from, watcher, {
    report: (error) => reported.push((error as Error).name),
  })
  await turns()
  assert.equal(stated(watcher), 'ADDED x, ADDED new')
  assert.equal(watcher.ended, false)
  assert.deepEqual(reported, ['TypeError'])
  behind?.stop()
})

const failures: [title: string, error: Error, reported: string[]][] = [
  ['cannot be read on', new Error('away'), ['away']],
  ['is forgotten meanwhile', new RevisionCompacted(9), []],
]
for (const [title, error, expected] of failures) {
  test(`a past that ${title} ends the watch`, async () => {
    const past = new Past()
    const from = await past.write(['x'])
    await past.write(['x'])
    const reported: string[] = []
    // biome-ignore lint/correctness/useYield: it ends before it has any change
    const changes = async function* (): AsyncGenerator<Change[]> {
      throw error
    }
    const watcher = new Watcher('', undefined)
    await past.watch(from, watcher, {
      storage: overlaid(past.storage, { changes }),
      report: (failure) => reported.push((failure as Error).message),
    })
    await turns()
    assert.equal(watcher.ended, true)
    assert.deepEqual(reported, expected)
  })
}

test('a catch-up that is stopped early delivers and reports nothing more', async () => {
  const past = new Past()
  const from = await past.write(['x'])
  await past.write(['x'], ['y'])
  const watcher = new Watcher('', undefined)
  const reported: unknown[] = []
  const behind = await past.watch(from, watcher, { report: (error) => reported.push(error) })
  behind?.stop()
  await turns()
  await past.write(['z'])
  await past.seen()
  const told = stated(watcher)
  assert.ok(!told.includes('z'), told)
  assert.deepEqual(reported, [])
})

test('the past is read no faster than its client reads', async () => {
  const past = new Past()
  const from = await past.write(['x'])
  await past.write(['x'], ['x'])
  let read = 0
  const changes: Storage['changes'] = async function* () {
    for (;;) {
      read++
      yield Array.from({ length: 600 }, (_, i): Change => {
        const revision = from + (read - 1) * 600 + i + 1
        return { key: keyOf(`${revision}`, 'a'), revision, bytes: thing('a', `${revision}`) }
      })
    }
  }
  // The history in memory is empty, so the cache never takes over.
  const cache = await past.cache()
  const history = { after: () => undefined } as unknown as ResourceCache['history']
  const watcher = new Watcher('', undefined)
  const behind = await past.watch(from, watcher, {
    storage: overlaid(past.storage, { changes }),
    cache: { resource: cache.resource, fanOut: cache.fanOut, history } as ResourceCache,
  })
  await turns()
  assert.deepEqual([read, watcher.queued], [2, 1001])
  await sleep(15)
  assert.equal(read, 2)
  watcher.take()
  await until('more to be told', () => watcher.queued === 1001)
  assert.equal(read, 4)
  assert.equal(behind?.progress, from + 1800)
  watcher.end()
  behind?.stop()
  await sleep(15)
  assert.equal(read, 4)
})

test('large objects are read no faster than the client reads, and the watch does not end', async () => {
  const past = new Past()
  const from = await past.write(['x'])
  await past.write(['x'])
  const padding = ' '.repeat(1 << 20)
  const bytes = Buffer.from(`${thing('a', 'large')}${padding}`)
  const count = 200
  const changes: Storage['changes'] = async function* ({ signal }) {
    yield Array.from({ length: count }, (_, i) => ({
      key: keyOf('large', 'a'),
      revision: from + i + 1,
      bytes,
    }))
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  }
  const cache = await past.cache()
  const history = { after: () => undefined } as unknown as ResourceCache['history']
  const watcher = new Watcher('', undefined)
  const behind = await past.watch(from, watcher, {
    storage: overlaid(past.storage, { changes }),
    cache: { resource: cache.resource, fanOut: cache.fanOut, history } as ResourceCache,
  })
  await turns()
  const revisions: number[] = []
  for (const started = Date.now(); revisions.length < count && Date.now() - started < 10_000; ) {
    assert.ok(watcher.queued <= 8, `${watcher.queued} wait`)
    revisions.push(...watcher.take().map(({ event }) => event.revision))
    await sleep(1)
  }
  assert.deepEqual(
    revisions,
    Array.from({ length: count }, (_, i) => from + i + 1),
  )
  assert.equal(watcher.ended, false)
  behind?.stop()
})

test('if the store reports progress without changes, the cache takes over', async () => {
  const past = new Past()
  const from = await past.write(['x'])
  const newest = await past.write(['x'])
  const watcher = new Watcher('', undefined)
  const changes: Storage['changes'] = async function* ({ progress, signal }) {
    progress?.(from)
    progress?.(newest)
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  }
  const behind = await past.watch(from, watcher, {
    storage: overlaid(past.storage, { changes }),
  })
  await turns()
  assert.equal(behind?.progress, undefined)
  await past.write(['later'])
  await past.seen()
  assert.equal(stated(watcher), 'ADDED later')
  behind?.stop()
})
