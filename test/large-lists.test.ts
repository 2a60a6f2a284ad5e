/**
 * Lists of tens of megabytes are whole, in every form and compression, on both protocols, and cost
 * little unread.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { join } from 'node:path'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import tls from 'node:tls'
import { until } from '#base/until.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

const count = 40
const place = '/api/v1/namespaces/default/configmaps'

function keysOf({ dataDir }: RunningServer) {
  const pem = (name: string) => readFileSync(join(dataDir, 'pki', name))
  return { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') }
}

async function makeLarge(server: RunningServer): Promise<void> {
  for (let i = 0; i < count; i++) {
    const object = {
      metadata: { name: `big-${i}`, labels: { big: 'yes', few: i < 16 ? 'yes' : 'no' } },
      data: { a: String(i).padEnd(900_000, 'x') },
    }
    assert.equal((await server.ask('POST', place, object)).status, 201)
  }
}

test('a large list has all of its items', async () => {
  const server = await startServer()
  const session = http2.connect(server.url, keysOf(server))
  const get = (path: string, headers: http2.OutgoingHttpHeaders) =>
    new Promise<Buffer>((resolve, reject) => {
      const stream = session.request({ ':path': path, ...headers })
      const chunks: Buffer[] = []
      let zipped = false
      stream.on('response', (answer) => {
        zipped = answer['content-encoding'] === 'gzip'
      })
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('error', reject)
      stream.on('end', () =>
        resolve(zipped ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks)),
      )
    })
  await makeLarge(server)
  const path = `${place}?labelSelector=big`
  for (let round = 0; round < 2; round++) {
    assert.equal((await server.ask('GET', path)).body.items.length, count)
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      const { items } = JSON.parse((await get(path, headers)).toString('utf8'))
      assert.equal(items.length, count)
      assert.equal(
        new Set(items.map((item: { metadata: { uid: string } }) => item.metadata.uid)).size,
        count,
      )
    }
  }
  const protobuf = await get(path, { accept: 'application/vnd.kubernetes.protobuf' })
  assert.ok(protobuf.length > count * 900_000)
  // As long as it takes: a busy machine does not send them all within a second or two.
  let events = 0
  session.request({ ':path': `${path}&watch=1` }).on('data', (chunk: Buffer) => {
    events += chunk.toString('latin1').split('\n').length - 1
  })
  await until('all events', () => events >= count)
  assert.equal(events, count)
  session.destroy()
  await server.stop()
})

interface Unread {
  readonly leave: () => void
  /** The status, once it is known. */
  status?: number
  closed?: boolean
}

/** Administrators are never refused. */
const asSomebody = { 'impersonate-user': 'somebody' }

/** Sends a request, and reads no more than the status. */
type Unreader = (server: RunningServer, path: string, count: number, headers?: object) => Unread[]

const unreaders: Record<string, Unreader> = {
  'HTTP/2': (server, path, count, headers) => {
    const session = http2.connect(server.url, keysOf(server))
    session.on('error', () => {})
    return Array.from({ length: count }, () => {
      const stream = session.request({ ':path': path, ...headers })
      const unread: Unread = { leave: () => session.destroy() }
      stream.on('error', () => {})
      stream.on('response', (headers) => {
        unread.status = headers[':status'] as number
        stream.pause()
      })
      stream.on('close', () => {
        unread.closed = true
      })
      return unread
    })
  },
  'HTTP/1.1': (server, path, count) =>
    Array.from({ length: count }, () => {
      const socket = tls.connect({ port: server.port, host: '127.0.0.1', ...keysOf(server) })
      const unread: Unread = { leave: () => socket.destroy() }
      socket.on('error', () => {})
      socket.once('secureConnect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`))
      // A paused socket does not hear of its end: it is looked at by one byte at a time.
      socket.once('readable', () => {
        unread.status = Number(String(socket.read(12)).slice(9))
      })
      return unread
    }),
}

const megabytesOf = ({ pid }: RunningServer): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
}

for (const [protocol, unread] of Object.entries(unreaders)) {
  test(`unread lists of ${protocol} cost a part of their size`, {
    skip: process.platform !== 'linux',
  }, async () => {
    const server = await startServer()
    await makeLarge(server)
    const before = megabytesOf(server)
    // 14 megabytes each, 1.7 gigabytes together.
    const asked = unread(server, `${place}?labelSelector=few=yes`, 120)
    await until('all answers', () => asked.every(({ status }) => status === 200))
    await server.ask('GET', place)
    const grown = megabytesOf(server) - before
    assert.ok(grown < 1000, `${grown} MB more`)
    // What must be made as a whole is refused for the while, what is small is not.
    const protobuf = { accept: 'application/vnd.kubernetes.protobuf' }
    const refused = await server.ask('GET', `${place}?labelSelector=few=yes`, undefined, protobuf)
    assert.deepEqual([refused.status, refused.headers?.['retry-after']], [429, '1'])
    assert.equal((await server.ask('GET', `${place}/big-0`, undefined, protobuf)).status, 200)
    for (const { leave } of asked) leave()
    await until('room', async () => {
      const path = `${place}?labelSelector=few=yes`
      return (await server.ask('GET', path, undefined, protobuf)).status === 200
    })
    await server.stop()
  })
}

const statusOfNext = async (server: RunningServer) =>
  (await server.ask('GET', `${place}?limit=1`, undefined, asSomebody)).status

/**
 * Four that hold all places. A machine so busy that their time is over before the next request
 * begins once more.
 */
async function unread(server: RunningServer, path: string) {
  for (let tries = 1; ; tries++) {
    const began = performance.now()
    const asked = unreaders['HTTP/2'](server, path, 4, asSomebody)
    await until('all answers', () => asked.every(({ status }) => status === 200))
    const status = await statusOfNext(server)
    if (status === 429) return asked
    for (const { leave } of asked) leave()
    const wasLate = performance.now() - began > 2000
    assert.ok(wasLate && tries < 10, `${path}: ${status}`)
  }
}

test('unread lists keep their seats no longer than their time', async () => {
  const server = await startServer([
    '--request-timeout=2s',
    '--enable-priority-and-fairness=false',
    '--max-requests-inflight=4',
    '--authorization-mode=AlwaysAllow',
  ])
  await makeLarge(server)
  // More than is made ahead, less than that, and the second of its kind, which is remembered.
  for (const query of ['', '?labelSelector=few=yes', '?limit=10', '?limit=10']) {
    const asked = await unread(server, `${place}${query}`)
    await until('room', async () => (await statusOfNext(server)) === 200)
    for (const { leave } of asked) leave()
  }
  await server.stop()
})
