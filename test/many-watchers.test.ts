/**
 * Two thousand watches of one resource, and some by each protocol that never read: the others miss
 * nothing and are not late.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { join } from 'node:path'
import test from 'node:test'
import tls from 'node:tls'
import { until } from '#base/until.fixture.ts'
import { startServer } from './running-server.ts'

const watchersCount = 2000
const perConnection = 200
const writesCount = 60
/** Enough that the one who does not read has more waiting than sockets and pipes hold. */
const bytesEach = 60_000

const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==',
  'Origin: http://a/',
  '',
].join('\r\n')

function silence(session: http2.ClientHttp2Session, path: string): void {
  const stream = session.request({ ':path': path })
  stream.on('error', () => {})
  stream.on('response', () => stream.pause())
}

test('two thousand watches, and four that never read', async () => {
  const server = await startServer()
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const keys = { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') }
  const place = '/api/v1/namespaces/default/configmaps'
  const { body } = await server.ask('GET', place)
  const path = `${place}?watch=1&labelSelector=told&resourceVersion=${body.metadata.resourceVersion}`
  const loudPath = path.replace('told', 'loud')
  const silent = ['', upgrade].map((more) => {
    const socket = tls.connect({
      port: server.port,
      host: '127.0.0.1',
      ...keys,
      ALPNProtocols: ['http/1.1'],
    })
    socket.on('error', () => {})
    socket.once('secureConnect', () => {
      socket.pause()
      socket.write(`GET ${loudPath} HTTP/1.1\r\nHost: a\r\n${more}\r\n`)
    })
    return socket
  })
  const sessions: http2.ClientHttp2Session[] = [http2.connect(server.url, keys)]
  const first = sessions[0] as http2.ClientHttp2Session
  const heard = new Array<number>(watchersCount).fill(0)
  const opened: Promise<void>[] = []
  for (let i = 0; i < watchersCount; i++) {
    if (i % perConnection === 0) {
      const session = http2.connect(server.url, keys)
      sessions.push(session)
      // One that does not read may share its connection with some that do.
      if (i === 0) session.once('connect', () => session.setLocalWindowSize(1 << 24))
      if (i === 0) silence(session, loudPath)
    }
    const stream = (sessions.at(-1) as http2.ClientHttp2Session).request({ ':path': path })
    opened.push(new Promise((resolve) => stream.once('response', () => resolve())))
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) heard[i]++
    })
  }
  silence(first, loudPath)
  await Promise.all(opened)
  for (let i = 0; i < writesCount; i++) {
    const loud = {
      metadata: { name: `loud-${i}`, labels: { loud: 'yes' } },
      data: { a: 'x'.repeat(bytesEach) },
    }
    assert.equal((await server.ask('POST', place, loud)).status, 201)
    if (i % 6 !== 0) continue
    const told = { metadata: { name: `told-${i}`, labels: { told: 'yes' } } }
    assert.equal((await server.ask('POST', place, told)).status, 201)
    await until('the others to be told', () => heard.every((count) => count >= i / 6 + 1))
  }
  const events = writesCount / 6
  await until('all events', () => heard.every((count) => count >= events))
  assert.ok(
    heard.every((count) => count === events),
    `from ${Math.min(...heard)} to ${Math.max(...heard)} of ${events}`,
  )
  assert.equal((await server.ask('GET', '/readyz')).text, 'ok')
  for (const session of sessions) session.destroy()
  for (const socket of silent) socket.destroy()
  const { code } = await server.stop()
  assert.equal(code, 0)
})
