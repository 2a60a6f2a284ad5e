/** Ordinary responses to upgrade requests. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import type { Wire } from '#http/exchange.ts'
import { wireOfUpgrade } from './upgrade-wire.ts'

let handle: (wire: Wire) => void = () => {}
const server = createServer()
server.on('upgrade', (request: IncomingMessage, socket, head) =>
  handle(wireOfUpgrade(request, socket, head)),
)
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
after(() => server.close())

/** All received bytes until the server closes. */
function ask(method: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', timeout: 2000 })
    const heard: Buffer[] = []
    socket.on('timeout', () => socket.destroy(new Error('no end')))
    socket.on('data', (bytes: Buffer) => heard.push(bytes))
    socket.on('close', () => resolve(Buffer.concat(heard)))
    socket.on('error', reject)
    socket.write(`${method} /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`)
  })
}

const pieces = [Buffer.from('one'), Buffer.from('two')]
const rows: [what: string, method: string, act: (wire: Wire) => void, expected: RegExp][] = [
  [
    'in one piece',
    'GET',
    (wire) => wire.answer(200, {}, pieces[0]),
    /^HTTP\/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\none$/,
  ],
  [
    'in several',
    'GET',
    (wire) => wire.answerPieces(200, {}, pieces),
    /length: 6\r\n[\s\S]*\r\n\r\nonetwo$/,
  ],
  [
    'of a HEAD',
    'HEAD',
    (wire) => wire.answerPieces(200, {}, pieces),
    /length: 6\r\n[\s\S]*\r\n\r\n$/,
  ],
  [
    'twice, of which the first counts',
    'GET',
    (wire) => {
      wire.answer(200, {}, pieces[0])
      wire.answerPieces(500, {}, pieces)
    },
    /\r\n\r\none$/,
  ],
  [
    'as a stream that is broken off',
    'GET',
    (wire) => {
      wire.stream(200, {}).write(Buffer.from('one'))
      wire.answer(500, {}, pieces[1])
      setTimeout(() => wire.abort?.(), 20)
    },
    /\r\n\r\none$/,
  ],
  [
    'with headers of any bytes',
    'GET',
    (wire) => wire.answer(200, { warning: Buffer.from('ü').toString('latin1') }, undefined),
    /warning: ü\r\n/,
  ],
]
for (const [what, method, act, expected] of rows) {
  test(`an answer ${what}`, async () => {
    handle = act
    assert.match(String(await ask(method)), expected)
  })
}

test('a listener is called when the client disconnects, even if it is added later', async () => {
  let reported = 0
  const gone = new Promise<Wire>((resolve) => {
    handle = (wire) => {
      wire.onClose?.(() => {
        reported++
        resolve(wire)
      })
      wire.answer(200, {}, undefined)
    }
  })
  await ask('GET')
  const wire = await gone
  wire.onClose?.(() => reported++)
  assert.deepEqual([reported, wire.isWaiting], [2, false])
})

test('a stream is notified that its client has disconnected', async () => {
  let closed = 0
  handle = (wire) => {
    const sink = wire.stream(200, {})
    sink.onClose?.(() => closed++)
    sink.write(Buffer.from('one'))
  }
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write('GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nmore')
  await new Promise((resolve) => socket.once('data', resolve))
  socket.end()
  await until('the end', () => closed > 0)
})
