/** The storage contract on the real etcd, and failures of the network. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { WireWriter } from '#base/wire.ts'
import {
  type Change,
  OutcomeUnknown,
  prefixRange,
  type Revision,
  RevisionSetBack,
  type Storage,
  StorageUnavailable,
} from '#storage/storage.ts'
import { collect, openedAgain, storageSuite, won } from '#storage/storage.suite.ts'
import { Connection, methods } from './connection.ts'
import { openEtcdStorage } from './etcd.ts'
import { EtcdServer, etcdVersion, writeCertificates } from './etcd-server.fixture.ts'

const version = etcdVersion()
const skip = version ? false : 'there is no etcd on PATH: nothing of the etcd store is tested'
if (skip) console.error(`SKIPPED: ${skip}`)

/** Longer than any response takes on a busy machine. */
const patientMs = 60_000

describe(version ?? 'etcd', { skip }, () => {
  let server: EtcdServer
  let prefixes = 0
  const newPrefix = () => `/registry/${prefixes++}/`
  before(async () => {
    server = await EtcdServer.start()
  })
  after(() => server.dispose())

  storageSuite('contract', {
    open: () => {
      const watchPrefix = newPrefix()
      const options = { endpoints: [server.endpoint], watchPrefix, deadlineMs: patientMs }
      return openedAgain(watchPrefix, () => openEtcdStorage(options))
    },
    ttlSecondsMin: 1,
    feedFirst: false,
  })

  test("two stores on one etcd see each other's writes at once, and their feeds are equal", async () => {
    const prefix = newPrefix()
    const endpoints = [server.endpoint]
    const one = await openEtcdStorage({ endpoints, watchPrefix: prefix })
    const two = await openEtcdStorage({ endpoints, watchPrefix: prefix })
    const start = await one.currentRevision()
    const feeds = [collect(one, start, 20), collect(two, start, 20)]
    for (let i = 0; i < 20; i++) {
      const [writer, reader] = i % 2 ? [one, two] : [two, one]
      const key = `${prefix}${i}`
      const revision = won(await writer.put(key, Buffer.from(`${i}`), { ifRevision: 0 }))
      assert.equal((await reader.get(key)).value?.revision, revision)
      assert.ok((await reader.currentRevision()) >= revision)
    }
    const [first, second] = await Promise.all(feeds)
    assert.deepEqual(first, second)
    await Promise.all([one.close(), two.close()])
  })

  test("atomic: another client's transaction arrives in one batch", async () => {
    const prefix = newPrefix()
    const storage = await openEtcdStorage({ endpoints: [server.endpoint], watchPrefix: prefix })
    const start = await storage.currentRevision()
    const batches: Change[][] = []
    const reading = (async () => {
      const { signal } = new AbortController()
      for await (const batch of storage.changes({ after: start, signal })) {
        batches.push(batch)
        if (batches.length === 2) return
      }
    })()
    const other = new Connection({ endpoints: [server.endpoint] })
    await other.write(methods.txn, txnOfPuts([`${prefix}a`, `${prefix}b`, `${prefix}c`]))
    won(await storage.put(`${prefix}d`, Buffer.from('d'), { ifRevision: 0 }))
    await reading
    assert.deepEqual(
      batches[0]?.map((change) => change.key.slice(prefix.length)),
      ['a', 'b', 'c'],
    )
    assert.equal(new Set(batches[0]?.map((change) => change.revision)).size, 1)
    await other.close()
    await storage.close()
  })

  test('progress: a reader learns of a revision that no key in its range has', async () => {
    const prefix = newPrefix()
    const storage = await openEtcdStorage({ endpoints: [server.endpoint], watchPrefix: prefix })
    const start = await storage.currentRevision()
    const abort = new AbortController()
    let reached: Revision = 0
    const reading = (async () => {
      const options = {
        after: start,
        signal: abort.signal,
        progress: (revision: Revision) => {
          reached = Math.max(reached, revision)
        },
      }
      for await (const batch of storage.changes(options)) {
        assert.ok((batch[0]?.revision ?? 0) > reached, 'progress ran ahead of a change')
      }
    })()
    for (let i = 0; i < 20; i++) {
      won(await storage.put(`/elsewhere${prefix}${i}`, Buffer.from('x'), { ifRevision: 0 }))
      if (i % 5 === 4) won(await storage.put(`${prefix}${i}`, Buffer.from('x'), { ifRevision: 0 }))
    }
    won(await storage.put(`/elsewhere${prefix}last`, Buffer.from('x'), { ifRevision: 0 }))
    const revision = await storage.currentRevision()
    await until('the progress to come', () => reached >= revision)
    abort.abort()
    await reading
    await storage.close()
  })

  test('progress: a reader that starts in the past gets all events before the progress report', async () => {
    const prefix = newPrefix()
    const storage = await openEtcdStorage({ endpoints: [server.endpoint], watchPrefix: prefix })
    const start = await storage.currentRevision()
    for (let i = 0; i < 10; i++)
      won(await storage.put(`${prefix}${i}`, Buffer.from('x'), { ifRevision: 0 }))
    for (let round = 0; round < 20; round++) {
      const abort = new AbortController()
      const heard: Revision[] = []
      let reached: Revision = 0
      const progress = (revision: Revision) => {
        reached = Math.max(reached, revision)
      }
      const reading = (async () => {
        for await (const batch of storage.changes({ after: start, signal: abort.signal, progress }))
          for (const { revision } of batch) {
            assert.ok(revision > reached, 'progress ran ahead of a change')
            heard.push(revision)
          }
      })()
      won(await storage.put(`/elsewhere${prefix}${round}`, Buffer.from('x'), { ifRevision: 0 }))
      const revision = await storage.currentRevision()
      await until('the progress to come', () => reached >= revision)
      assert.equal(heard.length, 10)
      abort.abort()
      await reading
    }
    await storage.close()
  })

  test('a list omits the marker key of progress', async () => {
    const prefix = newPrefix()
    const marked = await openEtcdStorage({ endpoints: [server.endpoint], watchPrefix: prefix })
    for (const name of ['a', 'progress-marker', 'z'])
      won(await marked.put(`${prefix}${name}`, Buffer.from(name), { ifRevision: 0 }))
    for (const limit of [1, 2, 10]) {
      const range = { start: prefix, end: `${prefix.slice(0, -1)}0` }
      const names = (await marked.list(range, { limit })).value.items.map(({ key }) => key)
      assert.deepEqual(names, [`${prefix}a`, `${prefix}z`].slice(0, limit))
    }
    await marked.close()
  })

  test("a too large value fails with etcd's message and is no trouble", async () => {
    const prefix = newPrefix()
    const storage = await openEtcdStorage({ endpoints: [server.endpoint] })
    const large = Buffer.alloc(1_700_000)
    await assert.rejects(
      storage.put(`${prefix}a`, large, { ifRevision: 0 }),
      (error: Error) => error instanceof StorageUnavailable && /too large/.test(error.message),
    )
    assert.equal(storage.trouble(), undefined)
    await storage.close()
  })

  test('a configuration that can never work is rejected when the store opens', async () => {
    const cases: [Parameters<typeof openEtcdStorage>[0], RegExp][] = [
      [{ endpoints: [] }, /no etcd server is named/],
      [{ endpoints: ['ftp://somewhere:1'] }, /ftp:\/\/somewhere:1 names no etcd server/],
      [
        { endpoints: ['https://a:1'], tls: { cafile: '/no/such/ca' } },
        /\/no\/such\/ca cannot be read/,
      ],
    ]
    for (const [options, words] of cases) {
      await assert.rejects(openEtcdStorage(options), words)
    }
  })
})

describe('etcd becomes unavailable', { skip }, () => {
  let server: EtcdServer
  let storage: Storage
  before(async () => {
    server = await EtcdServer.start()
    storage = await openEtcdStorage({ endpoints: [server.endpoint], deadlineMs: patientMs })
  })
  after(async () => {
    await storage.close()
    await server.dispose()
  })
  const put = (name: string) =>
    storage.put(`/registry/${name}`, Buffer.from(name), { ifRevision: 0 })

  test('killed: reads and writes wait, trouble has the reason, and all continue after the restart', async () => {
    const feed = collect(storage, await storage.currentRevision(), 6)
    won(await put('before-1'))
    const updated = won(await put('before-2'))
    await server.kill()
    // A create that is sent before the client notices has an unknown outcome.
    await until('the trouble to be noticed', () => storage.trouble() !== undefined)
    const requests: Promise<unknown>[] = [
      put('during'),
      storage.put('/registry/before-1', Buffer.from('x'), { ifRevision: updated - 1 }),
      storage.delete('/registry/before-2', { ifRevision: updated }),
      storage.get('/registry/before-1'),
      storage.list(prefixRange('/registry/')),
      Promise.resolve(storage.currentRevision()),
    ]
    let settled = 0
    for (const request of requests) void request.finally(() => settled++).catch(() => {})
    assert.match(storage.trouble() ?? '', /^etcd \(http:\/\/127\.0\.0\.1:\d+\) cannot be used: /)
    await sleep(300)
    assert.equal(settled, 0)
    await server.resume()
    await Promise.all(requests)
    await until('the trouble to end', () => storage.trouble() === undefined)
    won(await put('after'))
    const names = (await feed).map((change) => change.key.slice('/registry/'.length))
    assert.deepEqual(names.toSorted(), [
      'after',
      'before-1',
      'before-1',
      'before-2',
      'before-2',
      'during',
    ])
  })

  test('killed: a write whose deadline passes fails and is never done', async () => {
    await server.kill()
    await until('the trouble to be noticed', () => storage.trouble() !== undefined)
    const began = performance.now()
    const late = storage.put('/registry/late', Buffer.from('x'), {
      ifRevision: 0,
      deadlineAt: began + 300,
    })
    await assert.rejects(late, (error: Error) => {
      assert.ok(error instanceof StorageUnavailable, `${error}`)
      assert.match(error.message, /^etcd \(http:\/\/127\.0\.0\.1:\d+\) cannot be used: /)
      return true
    })
    const tookMs = performance.now() - began
    assert.ok(tookMs >= 290 && tookMs < 5000, `it took ${tookMs} ms`)
    await server.resume()
    await until('the trouble to end', () => storage.trouble() === undefined)
    assert.equal((await storage.get('/registry/late')).value, undefined)
  })

  test('killed: only a limited number of requests wait', async () => {
    const few = await openEtcdStorage({ endpoints: [server.endpoint], waitingMax: 10 })
    await few.currentRevision()
    await server.kill()
    const first = few.get('/registry/before-1')
    await until('the trouble to be noticed', () => few.trouble() !== undefined)
    const gets = Array.from({ length: 15 }, () => few.get('/registry/before-1'))
    const settling = Promise.allSettled(gets)
    await assert.rejects(Promise.race(gets), /too many requests wait for etcd/)
    await server.resume()
    assert.ok(await first)
    const failed = (await settling).filter(({ status }) => status === 'rejected').length
    assert.ok(failed === 5 || failed === 6, `${failed} failed`)
    await few.close()
  })

  /** A feed reports its progress if only keys outside its range were written. */
  async function reportsProgress(when: string): Promise<void> {
    const abort = new AbortController()
    let reached = 0
    const progress = (revision: Revision) => {
      reached = revision
    }
    const feed = storage.changes({
      after: await storage.currentRevision(),
      signal: abort.signal,
      progress,
    })
    const next = feed[Symbol.asyncIterator]().next()
    won(await storage.put(`/elsewhere/${when}`, Buffer.from('x'), { ifRevision: 0 }))
    const revision = await storage.currentRevision()
    await until(`the progress to come, ${when}`, () => reached >= revision)
    abort.abort()
    await next
  }

  test('restored to an older state: the feed reports it, and does not report a mere restart', async () => {
    won(await put('kept'))
    await server.kill()
    server.copy()
    await server.resume()
    await until('the trouble to end', () => storage.trouble() === undefined)
    const feed = collect(storage, await storage.currentRevision(), 3)
    won(await put('lost-1'))
    await reportsProgress('before')
    await server.kill()
    await server.resume()
    await until('the trouble to end', () => storage.trouble() === undefined)
    won(await put('lost-2'))
    await until(
      'the feed to have come so far',
      async () => (await storage.get('/registry/lost-2')).value,
    )
    await server.kill()
    server.setBack()
    await server.resume()
    await assert.rejects(feed, RevisionSetBack)
    await reportsProgress('set back')
    assert.equal((await storage.get('/registry/lost-1')).value, undefined)
    won(await put('lost-1'))
  })

  test('an outage is noticed without any request', async () => {
    assert.equal(storage.trouble(), undefined)
    await server.kill()
    await until('the trouble to be noticed', () => storage.trouble() !== undefined)
    await server.resume()
    await until('the trouble to end', () => storage.trouble() === undefined)
  })

  test('silent: a request to a server that does not respond fails at its deadline', async () => {
    const hasty = await openEtcdStorage({ endpoints: [server.endpoint], deadlineMs: 1000 })
    const usual = await openEtcdStorage({ endpoints: [server.endpoint] })
    const patient = await openEtcdStorage({
      endpoints: [server.endpoint],
      healthDeadlineMs: patientMs,
    })
    await server.freeze()
    try {
      const silent = hasty.put('/registry/silent', Buffer.from('x'), { ifRevision: 0 })
      await assert.rejects(silent, StorageUnavailable)
      await until('the trouble to be noticed', () => hasty.trouble())
      assert.match(hasty.trouble() ?? '', /cannot be used/)
      // A longer timeout for calls also delays the error.
      const began = performance.now()
      await until('the trouble to be told', () => usual.trouble())
      assert.ok(performance.now() - began < 25_000)
      assert.equal(patient.trouble(), undefined)
    } finally {
      server.thaw()
    }
    for (const storage of [hasty, usual, patient]) {
      await until('the trouble to end', () => storage.trouble() === undefined)
      await storage.close()
    }
    won(await put('after silence'))
  })

  test("a write that runs out of its client's time is no trouble", async () => {
    await storage.currentRevision()
    let late = 0
    for (let i = 0; i < 200; i++) {
      const condition = { ifRevision: 0, deadlineAt: performance.now() + 1 }
      const write = storage.put(`/registry/hurried-${i}`, Buffer.from('x'), condition)
      late += await write.then(
        () => 0,
        () => 1,
      )
      assert.equal(storage.trouble(), undefined)
    }
    assert.ok(late > 0)
  })

  test('silent: the store closes soon, and its requests fail', async () => {
    const closing = await openEtcdStorage({ endpoints: [server.endpoint] })
    await closing.currentRevision()
    await server.freeze()
    const requests = [
      closing.get('/registry/a'),
      closing.put('/registry/closing', Buffer.from('x'), { ifRevision: 0 }),
    ]
    const settled = Promise.allSettled(requests)
    try {
      const began = performance.now()
      await closing.close()
      assert.ok(performance.now() - began < 15_000)
      const reasons = (await settled).map((result) => 'reason' in result && result.reason)
      assert.ok(reasons[0] instanceof StorageUnavailable, `${reasons[0]}`)
      assert.ok(reasons[1] instanceof OutcomeUnknown, `${reasons[1]}`)
    } finally {
      server.thaw()
    }
  })

  test('if one server accepts connections and never responds, another is used', async () => {
    const taken: Socket[] = []
    const mute = createServer((socket) => taken.push(socket)).listen(0, '127.0.0.1')
    await once(mute, 'listening')
    const { port } = mute.address() as AddressInfo
    const endpoints = [`http://127.0.0.1:${port}`, server.endpoint]
    const several = await openEtcdStorage({ endpoints, deadlineMs: 4000 })
    try {
      assert.ok((await several.currentRevision()) > 0)
    } finally {
      await several.close()
      for (const socket of taken) socket.destroy()
      mute.close()
    }
  })

  test('one of several servers is enough', async () => {
    const endpoints = ['http://127.0.0.1:9', server.endpoint]
    const several = await openEtcdStorage({ endpoints, deadlineMs: patientMs })
    const start = await several.currentRevision()
    const feed = collect(several, start, 10)
    for (let i = 0; i < 10; i++) {
      won(await several.put(`/registry/several-${i}`, Buffer.from('x'), { ifRevision: 0 }))
    }
    assert.equal((await feed).length, 10)
    assert.equal((await several.list(prefixRange('/registry/several-'))).value.items.length, 10)
    await several.close()
  })

  test('unavailable when the store opens: trouble at once, and none after etcd starts', async () => {
    await server.kill()
    const early = await openEtcdStorage({ endpoints: [server.endpoint], deadlineMs: 1000 })
    const feed = collect(early, 1, 1)
    await assert.rejects(early.get('/registry/a'), StorageUnavailable)
    assert.ok(early.trouble())
    await server.resume()
    await until('the trouble to end', () => early.trouble() === undefined)
    assert.ok((await feed).length > 0)
    await early.close()
  })
})

describe('etcd whose database is full', { skip }, () => {
  test('writes fail with a clear error, reads and deletions succeed', async () => {
    const server = await EtcdServer.start(undefined, ['--quota-backend-bytes=2000000'])
    const storage = await openEtcdStorage({ endpoints: [server.endpoint] })
    try {
      const fill = async () => {
        for (let i = 0; i < 100; i++) {
          won(await storage.put(`/registry/${i}`, Buffer.alloc(200_000), { ifRevision: 0 }))
        }
      }
      await assert.rejects(
        fill(),
        (error: Error) =>
          error instanceof StorageUnavailable && /space exceeded/.test(error.message),
      )
      const { value } = await storage.get('/registry/0')
      assert.equal(storage.trouble(), undefined)
      won(await storage.delete('/registry/0', { ifRevision: value?.revision ?? 0 }))
    } finally {
      await storage.close()
      await server.dispose()
    }
  })
})

describe('etcd with TLS', { skip }, () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'binnacle-tls-'))
  })
  after(() => rmSync(directory, { recursive: true }))

  test("a client needs a certificate of etcd's authority", async () => {
    const tls = writeCertificates(directory)
    const server = await EtcdServer.start(tls)
    const endpoints = [server.endpoint]
    const storage = await openEtcdStorage({ endpoints, tls })
    const stranger = await openEtcdStorage({
      endpoints,
      tls: { cafile: tls.cafile },
      deadlineMs: 1000,
    })
    // The trusted certificate may be the server's own.
    const trusting = await openEtcdStorage({ endpoints, tls: { ...tls, cafile: tls.certfile } })
    // The certificate is for the address, so under any other name the server is rejected.
    const misnamed = await openEtcdStorage({
      endpoints: [server.endpoint.replace('127.0.0.1', 'localhost')],
      tls,
      deadlineMs: 1000,
    })
    try {
      const start = await storage.currentRevision()
      const feed = collect(storage, start, 1)
      won(await storage.put('/registry/a', Buffer.from('x'), { ifRevision: 0 }))
      assert.equal((await feed)[0]?.key, '/registry/a')
      assert.equal(String((await trusting.get('/registry/a')).value?.bytes), 'x')
      await assert.rejects(stranger.get('/registry/a'), StorageUnavailable)
      assert.ok(stranger.trouble())
      await assert.rejects(misnamed.get('/registry/a'), /altnames|cannot be used/)
    } finally {
      const all = [storage, stranger, trusting, misnamed]
      await Promise.all(all.map((one) => one.close()))
      await server.dispose()
    }
  })
})

describe('etcd that authenticates users by certificate', { skip }, () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'binnacle-users-'))
  })
  after(() => rmSync(directory, { recursive: true }))

  test('a user with permissions only below the prefix misses nothing', async () => {
    const tls = writeCertificates(directory)
    const server = await EtcdServer.start(tls)
    const endpoints = [server.endpoint]
    await allowOnly('etcd', '/registry/', new Connection({ endpoints, tls }))
    const storage = await openEtcdStorage({ endpoints, tls })
    try {
      const start = await storage.currentRevision()
      const feed = collect(storage, start, 2)
      const options = { ifRevision: 0, ttlSeconds: 3600 }
      const written = won(await storage.put('/registry/a', Buffer.from('x'), options))
      won(await storage.delete('/registry/a', { ifRevision: written }))
      assert.equal((await feed).length, 2)
      // Only etcd's administrators may compact; operators with restricted users know that.
      await assert.rejects(storage.compact(written), /permission denied/)
      await assert.rejects(storage.get('/elsewhere/a'), /permission denied/)
      assert.equal(storage.trouble(), undefined)
      // A client without permission for the keys can do nothing.
      const stranger = await openEtcdStorage({ endpoints, tls, watchPrefix: '/elsewhere/' })
      try {
        await until('the trouble to be told', () => stranger.trouble())
        assert.match(stranger.trouble() ?? '', /cannot be used: .*permission denied/)
      } finally {
        await stranger.close()
      }
    } finally {
      await storage.close()
      await server.dispose()
    }
  })

  /** Users without passwords: `root`, which etcd requires, and one with a role for a prefix. */
  async function allowOnly(user: string, prefix: string, connection: Connection): Promise<void> {
    const call = (method: string, ...fields: (string | Buffer)[]) =>
      connection.write(`/etcdserverpb.Auth/${method}`, messageOf(fields))
    const noPassword = Buffer.from([1 << 3, 1])
    const readAndWrite = Buffer.from([1 << 3, 2])
    const { start, end } = prefixRange(prefix)
    const range = messageOf(['', start, end]).subarray(2)
    await call('UserAdd', 'root', '', noPassword)
    await call('UserGrantRole', 'root', 'root')
    await call('UserAdd', user, '', noPassword)
    await call('RoleAdd', 'of the prefix')
    await call('RoleGrantPermission', 'of the prefix', Buffer.concat([readAndWrite, range]))
    await call('UserGrantRole', user, 'of the prefix')
    await call('AuthEnable')
    await connection.close()
  }
})

/** Encodes strings and messages as the fields 1, 2 and so on. */
function messageOf(fields: (string | Buffer)[]): Buffer {
  const writer = new WireWriter()
  for (const [i, field] of [...fields.entries()].reverse()) {
    if (typeof field === 'string') writer.string(field)
    else writer.delimited(field)
    writer.varint(((i + 1) << 3) | 2)
  }
  return writer.bytes()
}

/** A transaction without conditions that puts an `x` under each key. */
function txnOfPuts(keys: string[]): Buffer {
  const writer = new WireWriter()
  for (const key of keys.toReversed()) {
    const start = writer.length
    writer.string('x')
    writer.varint((2 << 3) | 2)
    writer.string(key)
    writer.varint((1 << 3) | 2)
    writer.varint(writer.length - start)
    writer.varint((2 << 3) | 2)
    writer.varint(writer.length - start)
    writer.varint((2 << 3) | 2)
  }
  return writer.bytes()
}
