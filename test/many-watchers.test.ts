/** Two thousand watches of one resource, one of which never reads: the others miss nothing and are not late. */
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

test('two thousand watches, one that never reads', async () => {
  const server = await startServer()
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const keys = { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') }
  const place = '/api/v1/namespaces/default/configmaps'
  const { body } = await server.ask('GET', place)
  const path = `${place}?watch=1&labelSelector=told&resourceVersion=${body.metadata.resourceVersion}`
  const silent = tls.connect({
    port: server.port,
    host: '127.0.0.1',
    ...keys,
    ALPNProtocols: ['http/1.1'],
  })
  silent.on('error', () => {})
  silent.once('secureConnect', () => {
    silent.pause()
    silent.write(`GET ${path.replace('told', 'loud')} HTTP/1.1\r\nHost: a\r\n\r\n`)
  })
  const sessions: http2.ClientHttp2Session[] = []
  const heard = new Array<number>(watchersCount).fill(0)
  const opened: Promise<void>[] = []
  for (let i = 0; i < watchersCount; i++) {
    if (i % perConnection === 0) sessions.push(http2.connect(server.url, keys))
    const stream = (sessions.at(-1) as http2.ClientHttp2Session).request({ ':path': path })
    opened.push(new Promise((resolve) => stream.once('response', () => resolve())))
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) heard[i]++
    })
  }
  await Promise.all(opened)
  for (let i = 0; i < writesCount; i++) {
    const loud = {
      metadata: { name: `loud-${i}`, labels: { loud: 'yes' } },
      data: { a: 'x'.repeat(bytesEach) },
    }
    assert.equal((await server.ask('POST', place, loud)).status, 201)
    if (i % 6 !== 0) continue
    assert.equal(
      (
        await server.ask('POST', place, {
          metadata: { name: `told-${i}`, labels: { told: 'yes' } },
        })
      ).status,
      201,
    )
  }
  const events = writesCount / 6
  await until('all events', () => heard.every((count) => count >= events))
  assert.ok(
    heard.every((count) => count === events),
    `from ${Math.min(...heard)} to ${Math.max(...heard)} of ${events}`,
  )
  assert.equal((await server.ask('GET', '/readyz')).text, 'ok')
  for (const session of sessions) session.destroy()
  silent.destroy()
  const { code } = await server.stop()
  assert.equal(code, 0)
})
