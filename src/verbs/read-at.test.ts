/** Which version a get, a list and a watch see; each cell of the matrices is a row. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { RevisionCompacted, type Storage } from '#storage/storage.ts'
import { overlaid } from '#watchcache/picture.suite.ts'
import { encodeContinue } from './continue-token.ts'
import { type Fixture, startVerbs } from './fixture.suite.ts'
import { freshnessOfGet, planList } from './read-at.ts'

let verbs: Fixture
/** Revisions of three writes of one object, and of one later write. */
let first: number
let second: number
let third: number

before(async () => {
  verbs = await startVerbs()
  const at = (object: { metadata: { resourceVersion?: string } }) =>
    Number(object.metadata.resourceVersion)
  first = at(await verbs.create('configmaps', { metadata: { name: 'a' }, data: { n: '1' } }))
  second = at(await verbs.create('configmaps', { metadata: { name: 'b' }, data: { n: '2' } }))
  third = at(await verbs.create('configmaps', { metadata: { name: 'c' }, data: { n: '3' } }))
  await verbs.settled()
})
after(() => verbs.stop())

async function outcome(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.reason}`
  }
}

// Where the newest and any version are the same, only the requested parameters distinguish them.
const wants: [version: string, match: string, limit: number, want: string][] = [
  ['', '', 0, 'latest'],
  ['', '', 5, 'latest'],
  ['0', '', 0, 'any'],
  ['0', '', 5, 'any'],
  ['0', 'NotOlderThan', 0, 'any'],
  ['0', 'NotOlderThan', 5, 'any'],
  ['7', '', 0, 'not-older-than 7'],
  ['7', '', 5, 'exactly 7'],
  ['7', 'Exact', 0, 'exactly 7'],
  ['7', 'Exact', 5, 'exactly 7'],
  ['7', 'NotOlderThan', 0, 'not-older-than 7'],
  ['7', 'NotOlderThan', 5, 'not-older-than 7'],
]
for (const [resourceVersion, resourceVersionMatch, limit, want] of wants)
  test(`a list of version "${resourceVersion}" ${resourceVersionMatch} by ${limit} wants ${want}`, () => {
    const options = { resourceVersion, resourceVersionMatch, limit, continueToken: '' }
    const { freshness } = planList(options as never, 22)
    assert.equal(Object.values(freshness).join(' '), want)
  })

test('without the watch cache, the store returns pages at any version', () => {
  const options = { resourceVersion: '0', resourceVersionMatch: '', limit: 5, continueToken: '' }
  const of = (limit: number) => planList({ ...options, limit } as never, 22, false)
  assert.deepEqual(of(5), { freshness: { want: 'latest' }, limit: 5, start: '' })
  assert.equal(of(0).freshness.want, 'any')
  assert.equal(planList(options as never, 22).limit, 0)
})

const nextPages: [
  version: string,
  release: number,
  snapshots: boolean,
  outcome: string | number,
][] = [
  ['', 37, true, 5],
  ['0', 37, true, 0],
  ['0', 33, false, 5],
  ['x', 29, false, 'specifying resource version is not allowed when using continue'],
  ['x', 28, false, 'invalid resource version'],
  ['x', 18, false, 'specifying resource version is not allowed when using continue'],
]
for (const [resourceVersion, release, snapshots, expected] of nextPages)
  test(`the next page of a list of version "${resourceVersion}" in 1.${release}`, () => {
    const continueToken = encodeContinue({ start: 'a', revision: 7 })
    const options = { resourceVersion, resourceVersionMatch: '', limit: 5, continueToken }
    const plan = () => planList(options as never, release, true, snapshots).limit
    if (typeof expected === 'number') assert.equal(plan(), expected)
    else assert.throws(plan, ({ message }: Error) => message.startsWith(expected))
  })

test('a get at the newest, at any, and at not older than a version', () => {
  const requested = ['', '0', '7'].map((version) =>
    Object.values(freshnessOfGet(version)).join(' '),
  )
  assert.deepEqual(requested, ['latest', 'any', 'not-older-than 7'])
})

/** A store with other writers, whose writes exist before its feed reports them. */
function lateStorage(): { storage: Storage; letGo(): void } {
  const storage = createMemoryStorage()
  const late = Promise.withResolvers<void>()
  async function* changes(options: Parameters<Storage['changes']>[0]) {
    for await (const batch of storage.changes(options)) {
      await late.promise
      yield batch
    }
  }
  return { storage: overlaid(storage, { changes }), letGo: late.resolve }
}

test('a reader of the newest version waits for other writers, a reader of any version does not', async () => {
  const { storage, letGo } = lateStorage()
  const verbs = await startVerbs(storage)
  await verbs.list('configmaps', 'resourceVersion=0')
  const bytes = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}')
  await storage.put('/registry/configmaps/default/a', bytes, { ifRevision: 0 })
  const reads: [what: string, read: (version: string) => Promise<number>][] = [
    ['list', async (version) => (await verbs.list('configmaps', version)).entries.length],
    [
      'watch',
      async (version) => {
        const watch = await verbs.watch('configmaps', version)
        watch.stop()
        return watch.initial.length
      },
    ],
  ]
  const any = reads.map(async ([what, read]) => `${what} ${await read('resourceVersion=0')}`)
  const newest = reads.map(async ([what, read]) => `${what} ${await read('')}`)
  assert.deepEqual(await Promise.all(any), ['list 0', 'watch 0'])
  letGo()
  assert.deepEqual(await Promise.all(newest), ['list 1', 'watch 1'])
  await verbs.stop()
})

// Both wait for a revision that never comes; together they take the time of one.
describe('get and list', { concurrency: true }, () => {
  test('get', async () => {
    const future = String(third + 1000)
    const cases: [resourceVersion: string, expected: string][] = [
      ['', 'a'],
      ['0', 'a'],
      [String(first), 'a'],
      [String(third), 'a'],
      [future, '504 Timeout'],
      ['nonsense', '500 '],
      ['-1', '500 '],
      ['99999999999999999999', '500 '],
    ]
    const rows = cases.map(async ([resourceVersion, expected]) => {
      const got = await outcome(
        async () => (await verbs.get('configmaps', 'a', resourceVersion)).metadata.name as string,
      )
      assert.equal(got, expected, `resourceVersion=${resourceVersion}`)
    })
    await Promise.all(rows)
  })

  test('list', async () => {
    const now = () => verbs.server.cache.freshness.revision
    const token = encodeContinue({ start: 'a\0', revision: second })
    const moved = encodeContinue({ start: 'a\0', revision: -1 })
    const future = third + 1000
    // The names on the page, and its version: `now`, or a number.
    const cases: [query: string, expected: string][] = [
      ['', 'a b c @now'],
      ['resourceVersion=0', 'a b c @now'],
      [`resourceVersion=${first}`, 'a b c @now'],
      [`resourceVersion=${future}`, '504 Timeout'],
      ['limit=2', 'a b @now'],
      ['limit=2&resourceVersion=0', 'a b c @now'],
      [`limit=2&resourceVersion=${second}`, `a b @${second}`],
      [`limit=1&resourceVersion=${second}`, `a @${second}`],
      [`limit=1&resourceVersion=${second}&fieldSelector=metadata.name=b`, `b @${second}`],
      [`limit=1&resourceVersion=${second}&fieldSelector=metadata.name=c`, ` @${second}`],
      [`limit=2&continue=${token}`, `b @${second}`],
      [`limit=2&continue=${token}&resourceVersion=0`, `b @${second}`],
      [`limit=2&continue=${token}&resourceVersion=${second}`, '400 BadRequest'],
      [`limit=2&continue=${moved}`, 'b c @now'],
      // For a page, only the spelling '0' means any version; '00' is a number.
      [`limit=2&continue=${token}&resourceVersion=00`, '400 BadRequest'],
      ['limit=2&resourceVersion=00', 'a b @now'],
      ['resourceVersion=00', 'a b c @now'],
      ['resourceVersionMatch=Exact', '422 Invalid'],
      ['resourceVersionMatch=Exact&resourceVersion=0', '422 Invalid'],
      [`resourceVersionMatch=Exact&resourceVersion=${second}`, `a b @${second}`],
      [`resourceVersionMatch=Exact&resourceVersion=${third}`, `a b c @${third}`],
      [`resourceVersionMatch=Exact&resourceVersion=${future}`, '504 Timeout'],
      ['resourceVersionMatch=Exact&limit=1', '422 Invalid'],
      ['resourceVersionMatch=Exact&limit=1&resourceVersion=0', '422 Invalid'],
      [`resourceVersionMatch=Exact&limit=1&resourceVersion=${second}`, `a @${second}`],
      ['resourceVersionMatch=NotOlderThan', '422 Invalid'],
      ['resourceVersionMatch=NotOlderThan&resourceVersion=0', 'a b c @now'],
      [`resourceVersionMatch=NotOlderThan&resourceVersion=${second}`, 'a b c @now'],
      ['resourceVersionMatch=NotOlderThan&limit=2', '422 Invalid'],
      [`resourceVersionMatch=NotOlderThan&limit=2&resourceVersion=${first}`, 'a b @now'],
      [`resourceVersionMatch=NotOlderThan&resourceVersion=${future}`, '504 Timeout'],
      [`resourceVersionMatch=Exact&resourceVersion=${second}&continue=${token}`, '422 Invalid'],
      ['resourceVersionMatch=Sometimes&resourceVersion=1', '422 Invalid'],
      ['resourceVersion=nonsense', '400 BadRequest'],
      ['continue=nonsense', '400 BadRequest'],
    ]
    const rows = cases.map(async ([query, expected]) => {
      const got = await outcome(async () => {
        const { entries, revision } = await verbs.list('configmaps', query)
        return `${entries.map(({ name }) => name).join(' ')} @${revision}`
      })
      assert.equal(got, expected.replace('@now', `@${now()}`), query)
    })
    await Promise.all(rows)
  })
})

test('watch', async () => {
  const cases: [query: string, initial: string, missed: string][] = [
    ['', 'a b c', ''],
    ['resourceVersion=0', 'a b c', ''],
    [`resourceVersion=${first}`, '', 'b c'],
    [`resourceVersion=${second}`, '', 'c'],
    [`resourceVersion=${third}`, '', ''],
    [`resourceVersion=${third + 1000}`, '', ''],
    ['fieldSelector=metadata.name=b', 'b', ''],
    [`resourceVersion=${first}&fieldSelector=metadata.name=b`, '', 'b'],
  ]
  for (const [query, initial, missed] of cases) {
    const started = await verbs.watch('configmaps', query)
    assert.equal(started.initial.map(({ name }) => name).join(' '), initial, query)
    const events = started.watcher.take().map(({ event }) => event.entry?.name)
    assert.equal(events.join(' '), missed, query)
    started.stop()
  }
  assert.equal(
    await outcome(async () => String(await verbs.watch('configmaps', 'resourceVersion=x'))),
    '500 ',
  )
})

test('a compacted version is 410, with a new token if a list was in progress', async () => {
  const own = await startVerbs()
  for (const name of ['a', 'b', 'c']) await own.create('configmaps', { metadata: { name } })
  await own.settled()
  const page = await own.list('configmaps', 'limit=1')
  // Lists in other representations evict the snapshot; then the store is compacted too.
  for (let i = 0; i < 40; i++) {
    await own.create('secrets', { metadata: { name: `s${i}` } })
    await own.create('configmaps', { metadata: { name: `z${i}` } })
    await own.settled()
    await own.list('configmaps', 'limit=1')
  }
  await own.storage.compact(await own.storage.currentRevision())
  const refused = await own.list('configmaps', `limit=1&continue=${page.continueToken}`).then(
    () => assert.fail('an answer'),
    (error) => error as ApiError,
  )
  assert.deepEqual([refused.code, refused.reason], [410, 'Expired'])
  const onward = await own.list('configmaps', `limit=1&continue=${refused.listMeta?.continue}`)
  assert.deepEqual(
    onward.entries.map(({ name }) => name),
    ['b'],
  )
  // A first page has no token to continue from.
  for (const requested of [
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=Exact&limit=1',
    'limit=1',
  ]) {
    const first = await own
      .list('configmaps', `${requested}&resourceVersion=${page.revision}`)
      .then(
        () => assert.fail('an answer'),
        (error) => error as ApiError,
      )
    assert.deepEqual(
      [first.code, first.reason, first.message, first.listMeta],
      [410, 'Expired', 'The resourceVersion for the provided list is too old.', undefined],
    )
  }
  for (let i = 0; i < 101; i++)
    await own.patch('configmaps', 'a', 'merge', { data: { i: String(i) } })
  await own.settled()
  assert.equal(
    await outcome(async () =>
      String(await own.watch('configmaps', `resourceVersion=${page.revision}`)),
    ),
    '410 Expired',
  )
  await own.stop()
})

test('a token expires when the store compacts its version, even if its objects did not change', async () => {
  const own = await startVerbs()
  for (const name of ['a', 'b', 'c']) await own.create('configmaps', { metadata: { name } })
  await own.settled()
  const page = await own.list('configmaps', 'limit=1')
  await own.create('secrets', { metadata: { name: 'later' } })
  await own.settled()
  const next = () => own.list('configmaps', `limit=1&continue=${page.continueToken}`)
  assert.deepEqual(
    (await next()).entries.map(({ name }) => name),
    ['b'],
  )
  await own.storage.compact(await own.storage.currentRevision())
  const refused = await next().then(
    () => assert.fail('an answer'),
    (error) => error as ApiError,
  )
  assert.equal(refused.code, 410)
  const onward = await own.list('configmaps', `limit=1&continue=${refused.listMeta?.continue}`)
  assert.deepEqual([onward.entries[0].name, onward.revision > page.revision], ['b', true])
  await own.stop()
})

test('a past version with a label selector equals one without, for any number of objects', async () => {
  const own = await startVerbs()
  for (let i = 0; i < 300; i++) {
    const labels = { side: i < 3 ? 'left' : 'right' }
    await own.create('configmaps', { metadata: { name: `c${i}`, labels } })
  }
  await own.settled()
  const left = 'labelSelector=side=left'
  const { revision } = await own.list('configmaps', left)
  await own.patch('configmaps', 'c0', 'merge', { metadata: { labels: { side: 'right' } } })
  await own.settled()
  const rows: [query: string, expected: string][] = [
    [left, 'c1 c2'],
    [`${left}&resourceVersion=${revision}`, 'c1 c2'],
    [`${left}&resourceVersion=${revision}&resourceVersionMatch=Exact`, 'c0 c1 c2'],
    [`${left}&resourceVersion=${revision}&limit=2`, 'c0 c1'],
    [`${left}&resourceVersion=${revision}&resourceVersionMatch=NotOlderThan&limit=2`, 'c1 c2'],
  ]
  for (const [query, expected] of rows) {
    const { entries } = await own.list('configmaps', query)
    assert.equal(entries.map(({ name }) => name).join(' '), expected, query)
  }
  await own.stop()
})

test('a page of a past version is read only from the store, with its remaining count', async () => {
  const storage = createMemoryStorage()
  let read = 0
  const before = await startVerbs(storage)
  for (let i = 1; i <= 9; i++) await before.create('configmaps', { metadata: { name: `n${i}` } })
  const { continueToken } = await before.list('configmaps', 'limit=2')
  await before.server.cache.close()
  const on = await startVerbs(
    overlaid(storage, {
      async list(...args) {
        const found = await storage.list(...args)
        read += found.value.items.length
        return found
      },
    }),
  )
  await on.create('configmaps', { metadata: { name: 'n0' } })
  await on.list('configmaps')
  read = 0
  const names: string[] = []
  for (let token = continueToken; token !== ''; ) {
    const page = await on.list('configmaps', `limit=3&continue=${token}`)
    names.push(...page.entries.map(({ name }) => name), `${page.remaining ?? 'end'}`)
    token = page.continueToken
  }
  assert.equal(names.join(' '), 'n3 n4 n5 4 n6 n7 n8 1 n9 end')
  assert.equal(read, 9, 'each object once, and the next of each page')
  await on.stop()
})

describe('readers that wait while the caches are reloaded after a compaction', () => {
  const reads: [what: string, read: (verbs: Fixture) => Promise<unknown>, expected: unknown][] = [
    [
      'a list',
      async (on) => (await on.list('configmaps')).entries.map(({ name }) => name),
      ['new'],
    ],
    ['a get', async (on) => (await on.get('configmaps', 'new')).metadata.name, 'new'],
    [
      'a patch',
      async (on) =>
        (await on.patch('configmaps', 'new', 'merge', { data: { n: '2' } })).data as unknown,
      { n: '2' },
    ],
    [
      'a watch',
      async (on) => (await on.watch('configmaps')).initial.map(({ name }) => name),
      ['new'],
    ],
    [
      'a look of a plugin',
      async (on) => (await on.server.reader.get('', 'configmaps', 'default', 'new'))?.metadata.name,
      'new',
    ],
  ]
  for (const [what, read, expected] of reads)
    test(`${what} sees the current state`, async () => {
      const { storage, breakOff, answerAgain } = silenced()
      const on = await startVerbs(storage)
      await on.list('configmaps')
      breakOff()
      await on.create('configmaps', { metadata: { name: 'new' } })
      const reading = read(on)
      answerAgain()
      assert.deepEqual(await reading, expected)
      await on.stop()
    })
})

/** A remote store whose feed breaks and which does not respond for a while. */
function silenced() {
  const real = createMemoryStorage()
  const broken = new AbortController()
  let answers: Promise<void> | undefined
  let answerAgain = () => {}
  const storage = overlaid(real, {
    async currentRevision() {
      await answers
      return real.currentRevision()
    },
    async *changes(options) {
      const isFirst = !broken.signal.aborted
      const signal = AbortSignal.any(isFirst ? [options.signal, broken.signal] : [options.signal])
      yield* real.changes({ ...options, signal })
      if (isFirst && !options.signal.aborted) throw new RevisionCompacted(1)
    },
  })
  const breakOff = () => {
    answers = new Promise((resolve) => (answerAgain = resolve))
    broken.abort()
  }
  return { storage, breakOff, answerAgain: () => answerAgain() }
}

test('a get of the newest version requests the revision of the store once', async () => {
  const real = createMemoryStorage()
  let requested = 0
  const storage = overlaid(real, {
    async currentRevision() {
      requested++
      return real.currentRevision()
    },
  })
  const on = await startVerbs(storage)
  await on.create('configmaps', { metadata: { name: 'a' } })
  await on.get('configmaps', 'a')
  requested = 0
  await on.get('configmaps', 'a')
  assert.equal(requested, 1)
  await on.stop()
})
