import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { gone, serviceUnavailable } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient, ClientEvent } from './client.ts'
import { Informer } from './informer.ts'

const resource = { group: '', version: 'v1', plural: 'things' }
const object = (name: string, version: number, more: object = {}): KubeObject => ({
  metadata: { name, namespace: 'n', resourceVersion: String(version) },
  ...more,
})

/** A server whose lists and watches are scripted. */
class Script {
  readonly requested: string[] = []
  readonly lists: (() => {
    items: KubeObject[]
    resourceVersion: string
    continueToken: string
  })[] = []
  readonly watches: (() => Iterable<ClientEvent>)[] = []
  /** All scripted responses were used, and a watch waits for more. */
  isOver = false

  client(): ApiClient {
    const script = this
    return {
      async list(_: unknown, __: unknown, query: { continueToken: string }) {
        script.requested.push(`list ${query.continueToken}`.trim())
        const next = script.lists.shift()
        if (next === undefined) throw serviceUnavailable('away')
        return next()
      },
      async *watch(_: unknown, __: unknown, version: string, signal: AbortSignal) {
        script.requested.push(`watch ${version}`)
        const next = script.watches.shift()
        if (next === undefined) {
          script.isOver = true
          return await new Promise((resolve) => signal.addEventListener('abort', resolve))
        }
        yield* next()
      },
    } as unknown as ApiClient
  }
}

const page =
  (version: number, items: KubeObject[], continueToken = '') =>
  () => ({
    items,
    resourceVersion: String(version),
    continueToken,
  })
const raise = (error: Error) => (): never => {
  throw error
}

async function check(script: Script) {
  const stop = new AbortController()
  const heard: string[] = []
  const reported: string[] = []
  const informer = new Informer<string>({
    client: script.client(),
    resource,
    keep: ({ metadata, dull }) =>
      dull ? undefined : `${metadata.name}@${metadata.resourceVersion}`,
    signal: stop.signal,
    report: (message) => reported.push(message),
  })
  informer.listen({
    changed: (kept, before) => heard.push(before === undefined ? `+${kept}` : `${before}>${kept}`),
    deleted: (kept) => heard.push(`-${kept}`),
  })
  informer.start()
  await until('the end of the script', () => script.isOver)
  stop.abort()
  return { heard: heard.join(' '), kept: [...informer.values()].join(' '), reported, informer }
}

test('lists in pages, then watches from there', async () => {
  const script = new Script()
  script.lists.push(page(5, [object('a', 1)], 'more'), page(5, [object('b', 2)]))
  script.watches.push(() => [
    { type: 'MODIFIED', object: object('a', 6) },
    { type: 'DELETED', object: object('b', 7) },
    { type: 'ADDED', object: object('c', 8) },
  ])
  const { heard, kept } = await check(script)
  assert.equal(heard, '+a@1 +b@2 a@1>a@6 -b@2 +c@8')
  assert.equal(kept, 'a@6 c@8')
  assert.deepEqual(script.requested.slice(0, 3), ['list', 'list more', 'watch 5'])
})

test('a watch that ends is resumed where it ended', async () => {
  const script = new Script()
  script.lists.push(page(5, []))
  script.watches.push(() => [{ type: 'ADDED', object: object('a', 6) }])
  await check(script)
  assert.deepEqual(script.requested, ['list', 'watch 5', 'watch 6'])
})

const endings: [name: string, lastsMs: number, longestWaitMs: [from: number, to: number]][] = [
  ['a watch in which nothing happens is resumed at once, each time it ends', 2000, [30, 50]],
  ['a watch that keeps ending at once is resumed later and later', 1, [4000, 6400]],
]
for (const [name, lastsMs, [from, to]] of endings)
  test(name, async (t) => {
    const { setTimeout: later } = globalThis
    const waits: number[] = []
    t.mock.method(globalThis, 'setTimeout', (call: () => void, ms = 0) => {
      waits.push(ms)
      return later(call, Math.min(ms, 1))
    })
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const script = new Script()
    script.lists.push(page(5, []))
    for (let times = 0; times < 8; times++)
      script.watches.push(() => {
        now += lastsMs
        return []
      })
    await check(script)
    const longest = Math.max(...waits)
    assert.ok(from <= longest && longest <= to, `${longest} ms`)
  })

test('after a 410 it lists again, and reports objects that were deleted meanwhile', async () => {
  const script = new Script()
  script.lists.push(page(5, [object('a', 1), object('b', 2)]), page(9, [object('b', 8)]))
  script.watches.push(raise(gone('too old')))
  const { heard } = await check(script)
  assert.equal(heard, '+a@1 +b@2 b@2>b@8 -a@1')
  assert.deepEqual(script.requested, ['list', 'watch 5', 'list', 'watch 9'])
})

test('an object that was recreated with the same name while the watch was down is another object', async () => {
  const script = new Script()
  const withUid = (version: number, uid: string) => {
    const { metadata } = object('a', version)
    return { metadata: { ...metadata, uid } }
  }
  script.lists.push(page(5, [withUid(1, 'one')]), page(9, [withUid(8, 'two')]))
  script.watches.push(raise(gone('too old')))
  const { heard, kept } = await check(script)
  assert.equal(heard, '+a@1 -a@1 +a@8')
  assert.equal(kept, 'a@8')
})

test('it retries while the server is unavailable, and reports that', async () => {
  const script = new Script()
  script.lists.push(raise(serviceUnavailable('away')), page(5, [object('a', 1)]))
  const { heard, reported } = await check(script)
  assert.equal(heard, '+a@1')
  assert.deepEqual(reported, ['following things failed'])
})

test('objects that `Keep` drops are not cached; a cached object that it drops later is reported as deleted', async () => {
  const script = new Script()
  script.lists.push(page(5, [object('a', 1), object('b', 2, { dull: true })]))
  script.watches.push(() => [{ type: 'MODIFIED', object: object('a', 6, { dull: true }) }])
  const { heard, kept } = await check(script)
  assert.equal(heard, '+a@1 -a@1')
  assert.equal(kept, '')
})

test('a late listener receives all existing objects', async () => {
  const script = new Script()
  script.lists.push(page(5, [object('a', 1)]))
  const { informer } = await check(script)
  const heard: string[] = []
  informer.listen({ changed: (kept) => heard.push(kept) })
  assert.deepEqual(heard, ['a@1'])
})
