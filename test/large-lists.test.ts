/** Lists of tens of megabytes are whole, in every form and compression, on both protocols. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { join } from 'node:path'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startServer } from './running-server.ts'

const count = 40
const place = '/api/v1/namespaces/default/configmaps'

test('a large list has all of its items', async () => {
  const server = await startServer()
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const session = http2.connect(server.url, {
    ca: pem('ca.crt'),
    cert: pem('admin.crt'),
    key: pem('admin.key'),
  })
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
  for (let i = 0; i < count; i++) {
    const object = {
      metadata: { name: `big-${i}`, labels: { big: 'yes' } },
      data: { a: String(i).padEnd(900_000, 'x') },
    }
    assert.equal((await server.ask('POST', place, object)).status, 201)
  }
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
  const watched = await get(`${path}&watch=1&timeoutSeconds=2`, {})
  assert.equal(watched.toString('utf8').split('\n').length - 1, count)
  session.destroy()
  await server.stop()
})
