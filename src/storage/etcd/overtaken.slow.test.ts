/**
 * Events between a request and its response: other writers, compactions, expired leases. A proxy
 * that can pause either direction controls the order.
 */
import assert from 'node:assert/strict'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { WireWriter } from '#base/wire.ts'
import { prefixRange, RevisionCompacted, type Storage } from '#storage/storage.ts'
import { won } from '#storage/storage.suite.ts'
import { Connection } from './connection.ts'
import { openEtcdStorage } from './etcd.ts'
import { EtcdServer, etcdVersion } from './etcd-server.fixture.ts'

const skip = etcdVersion() ? false : 'there is no etcd on PATH'

/** Requests and responses in transit, which wait while the proxy is paused. */
class Way {
  readonly #held = { questions: [] as (() => void)[], answers: [] as (() => void)[] }
  readonly #isHeld = { questions: false, answers: false }
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect(port, '127.0.0.1')
      this.#join('questions', near, far)
      this.#join('answers', far, near)
    })
  }

  async open(): Promise<string> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening))
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  hold(which: 'questions' | 'answers'): void {
    this.#isHeld[which] = true
  }

  waiting(which: 'questions' | 'answers'): number {
    return this.#held[which].length
  }

  release(which: 'questions' | 'answers'): void {
    this.#isHeld[which] = false
    for (const pass of this.#held[which].splice(0)) pass()
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #join(which: 'questions' | 'answers', from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.on('data', (bytes) => {
      const pass = () => to.write(bytes)
      if (this.#isHeld[which]) this.#held[which].push(pass)
      else pass()
    })
    from.on('error', () => {})
    from.on('close', () => to.destroy())
  }
}

describe('events between a request and its response', { skip }, () => {
  let etcd: EtcdServer
  let way: Way
  let near: Storage
  let other: Storage
  before(async () => {
    etcd = await EtcdServer.start()
    way = new Way(Number(new URL(etcd.endpoint).port))
    near = await openEtcdStorage({ endpoints: [await way.open()] })
    other = await openEtcdStorage({ endpoints: [etcd.endpoint] })
  })
  after(async () => {
    way.release('questions')
    way.release('answers')
    await Promise.all([near.close(), other.close()])
    way.close()
    await etcd.dispose()
  })
  const write = async (key: string) =>
    won(await other.put(key, Buffer.from('x'), { ifRevision: 0 }))

  test('a request for the newest revision does not get one that was read before it', async () => {
    await near.currentRevision()
    way.hold('answers')
    const first = near.currentRevision()
    await until('an answer to be on its way', () => way.waiting('answers') > 0)
    await sleep(100)
    const written = await write('/registry/newest')
    const later = [near.currentRevision(), near.currentRevision()]
    way.release('answers')
    assert.ok((await first) < written)
    for (const revision of later) assert.ok((await revision) >= written)
  })

  test('a list whose revision is compacted starts again, unless it is for a fixed revision', async () => {
    const keys = Array.from({ length: 1500 }, (_, i) => `/registry/long/${i}`)
    for (let i = 0; i < keys.length; i += 100) await Promise.all(keys.slice(i, i + 100).map(write))
    for (const isExact of [false, true]) {
      const at = isExact ? await other.currentRevision() : undefined
      way.hold('answers')
      const listing = near.list(prefixRange('/registry/long/'), { at })
      const outcome = listing.catch((error: Error) => error)
      await until('its first part to be on its way', () => way.waiting('answers') > 0)
      await sleep(200)
      way.hold('questions')
      way.release('answers')
      await until('the next part to be asked for', () => way.waiting('questions') > 0)
      await sleep(200)
      await other.compact(await write(`/registry/compacted-${isExact}`))
      way.release('questions')
      const read = await outcome
      if (isExact) assert.ok(read instanceof RevisionCompacted, `${read}`)
      else assert.equal((read as Awaited<typeof listing>).value.items.length, keys.length)
    }
  })

  test('a lease that etcd has lost is replaced', async () => {
    const storage = await openEtcdStorage({ endpoints: [etcd.endpoint], random: () => 0 })
    const put = (key: string) =>
      storage.put(key, Buffer.from('x'), { ifRevision: 0, ttlSeconds: 3600 })
    won(await put('/registry/leased'))
    const revocation = new WireWriter()
    revocation.varint(1)
    revocation.varint(1 << 3)
    const connection = new Connection({ endpoints: [etcd.endpoint] })
    await connection.write('/etcdserverpb.Lease/LeaseRevoke', revocation.bytes())
    assert.equal((await storage.get('/registry/leased')).value, undefined)
    won(await put('/registry/leased'))
    won(await put('/registry/leased-too'))
    await connection.close()
    await storage.close()
  })
})
