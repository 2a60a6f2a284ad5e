/**
 * Writes whose connection breaks before etcd has the request, or before the client has the
 * response. Each is done at most once, and its reported outcome is correct or unknown.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Change, OutcomeUnknown, type Revision, type Storage } from '#storage/storage.ts'
import { won } from '#storage/storage.suite.ts'
import { openEtcdStorage } from './etcd.ts'
import { EtcdServer, etcdVersion } from './etcd-server.fixture.ts'

const version = etcdVersion()
const skip = version ? false : 'there is no etcd on PATH'

/** Where the proxy breaks the connection: before the request or before the response. */
type Cut = 'request' | 'response'

const frameHeaderBytes = 9
const dataOrHeadersMax = 1

/**
 * Whether the bytes contain an HTTP/2 frame with headers or data: etcd sends pings before it
 * processes a request.
 */
function carriesMessage(bytes: Buffer): boolean {
  for (let at = 0; at + frameHeaderBytes <= bytes.length; ) {
    if ((bytes[at + 3] as number) <= dataOrHeadersMax) return true
    at += frameHeaderBytes + bytes.readUIntBE(at, 3)
  }
  return false
}

/** A TCP proxy to etcd that breaks all its connections at the next message from one side. */
class CuttingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #cut: Cut | undefined
  /** Runs after a cut and before another connection is accepted. */
  #meanwhile: (() => Promise<void>) | undefined
  #busy: Promise<void> = Promise.resolve()

  constructor(endpoint: string) {
    const { hostname, port } = new URL(endpoint)
    this.#server = createServer(async (client) => {
      this.#sockets.add(client)
      client.on('error', () => {})
      await this.#busy
      const etcd = connect(Number(port), hostname)
      this.#sockets.add(etcd)
      etcd.on('error', () => {})
      this.#pass(client, etcd, 'request')
      this.#pass(etcd, client, 'response')
    })
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  cutNext(cut: Cut, meanwhile?: () => Promise<void>): void {
    this.#cut = cut
    this.#meanwhile = meanwhile
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #pass(from: Socket, to: Socket, what: Cut): void {
    from.on('data', (bytes) => {
      if (this.#cut !== what || !carriesMessage(bytes)) return void to.write(bytes)
      this.#cut = undefined
      this.#busy = this.#meanwhile?.() ?? this.#busy
      for (const socket of this.#sockets) socket.destroy()
      this.#sockets.clear()
    })
    from.on('close', () => to.destroy())
  }
}

describe('a connection that breaks during a write', { skip }, () => {
  let server: EtcdServer
  let proxy: CuttingProxy
  let cut: Storage
  let direct: Storage
  before(async () => {
    server = await EtcdServer.start()
    proxy = new CuttingProxy(server.endpoint)
    const endpoint = await proxy.listen()
    cut = await openEtcdStorage({ endpoints: [endpoint], deadlineMs: 60_000 })
    direct = await openEtcdStorage({ endpoints: [server.endpoint], deadlineMs: 60_000 })
  })
  after(async () => {
    await cut.close()
    await direct.close()
    proxy.close()
    await server.dispose()
  })

  /** All changes of one key. */
  async function historyOf(key: string, after: Revision): Promise<Change[]> {
    const last = won(await direct.put(`${key}-end`, Buffer.from('x'), { ifRevision: 0 }))
    const changes: Change[] = []
    const { signal } = new AbortController()
    for await (const batch of direct.changes({ after, signal })) {
      changes.push(...batch.filter((change) => change.key === key))
      if ((batch.at(-1)?.revision ?? 0) >= last) break
    }
    return changes
  }

  const texts = (changes: Change[]) => changes.map(({ bytes }) => bytes?.toString() ?? 'deleted')
  const own = Buffer.from('own')
  const other = Buffer.from('other')

  type Write = (key: string, ifRevision: Revision) => Promise<unknown>
  interface Row {
    readonly name: string
    readonly exists: boolean
    readonly write: 'put' | 'delete'
    readonly cut: Cut
    readonly meanwhile?: Write
    readonly result: 'won' | 'lost' | 'unknown'
    readonly history: string[]
  }
  const overwrite: Write = async (key) => {
    const { value } = await direct.get(key)
    await direct.put(key, other, { ifRevision: value?.revision ?? 0 })
  }
  const remove: Write = async (key) => {
    const { value } = await direct.get(key)
    if (value) await direct.delete(key, { ifRevision: value.revision })
  }
  /** Another writer sends the same write, and gets its response. */
  const repeat: Write = async (key, ifRevision) =>
    void won(await direct.put(key, own, { ifRevision }))
  const removeFirst: Write = async (key, ifRevision) =>
    void won(await direct.delete(key, { ifRevision }))
  const undisturbed = { name: 'undisturbed' }
  const overwritten = { name: 'overwritten', meanwhile: overwrite }
  const gone = { name: 'deleted', meanwhile: remove }
  const repeated = { name: 'written by another too', meanwhile: repeat }
  const deleted = { name: 'deleted by another too', meanwhile: removeFirst }
  const create = { exists: false, write: 'put' } as const
  const update = { exists: true, write: 'put' } as const
  const removal = { exists: true, write: 'delete' } as const
  const early = { cut: 'request' } as const
  const late = { cut: 'response' } as const
  const rows: Row[] = [
    { ...early, ...undisturbed, ...create, result: 'unknown', history: [] },
    { ...early, ...undisturbed, ...update, result: 'won', history: ['first', 'own'] },
    { ...early, ...undisturbed, ...removal, result: 'won', history: ['first', 'deleted'] },
    { ...late, ...undisturbed, ...create, result: 'won', history: ['own'] },
    { ...late, ...undisturbed, ...update, result: 'unknown', history: ['first', 'own'] },
    { ...late, ...undisturbed, ...removal, result: 'unknown', history: ['first', 'deleted'] },
    { ...early, ...overwritten, ...update, result: 'lost', history: ['first', 'other'] },
    { ...early, ...overwritten, ...create, result: 'unknown', history: ['other'] },
    { ...early, ...overwritten, ...removal, result: 'lost', history: ['first', 'other'] },
    { ...early, ...repeated, ...update, result: 'unknown', history: ['first', 'own'] },
    { ...early, ...deleted, ...removal, result: 'unknown', history: ['first', 'deleted'] },
    { ...late, ...overwritten, ...update, result: 'unknown', history: ['first', 'own', 'other'] },
    { ...late, ...overwritten, ...create, result: 'won', history: ['own', 'other'] },
    { ...late, ...gone, ...create, result: 'won', history: ['own', 'deleted'] },
    {
      ...late,
      ...overwritten,
      ...removal,
      result: 'unknown',
      history: ['first', 'deleted', 'other'],
    },
  ]
  for (const [i, row] of rows.entries()) {
    const title = `${row.exists ? 'existing' : 'new'} key, ${row.write}, ${row.name}`
    test(`${title}: the ${row.cut} is lost`, { timeout: 60_000 }, async () => {
      const key = `/registry/lost/${i}`
      const start = await cut.currentRevision()
      const ifRevision = row.exists ? won(await cut.put(key, Buffer.from('first'), absent)) : 0
      const { meanwhile } = row
      proxy.cutNext(row.cut, meanwhile && (async () => void (await meanwhile(key, ifRevision))))
      const isUnique = !row.exists
      const write =
        row.write === 'put'
          ? cut.put(key, own, { ifRevision, isUnique })
          : cut.delete(key, { ifRevision })
      const outcome = await write.catch((error: Error) => error)
      const history = await historyOf(key, start)
      assert.deepEqual(texts(history), row.history)
      if (outcome instanceof Error) {
        assert.ok(outcome instanceof OutcomeUnknown, `${outcome}`)
        assert.equal('unknown', row.result)
        return
      }
      assert.equal(outcome.ok ? 'won' : 'lost', row.result)
      const text = row.write === 'put' ? 'own' : 'deleted'
      const done = history.find((change) => texts([change])[0] === text)
      if (outcome.ok) assert.equal(outcome.revision, done?.revision)
      else assert.equal(outcome.current?.bytes.toString(), 'other')
    })
  }

  test('a write with a TTL creates its lease and its key once', async () => {
    proxy.cutNext('response')
    const condition = { ifRevision: 0, ttlSeconds: 100, isUnique: true }
    const put = cut.put('/registry/lost/lease', own, condition)
    assert.equal(won(await put), (await direct.get('/registry/lost/lease')).value?.revision)
  })
})

const absent = { ifRevision: 0 }
