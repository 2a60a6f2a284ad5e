/** Tunnels: whether there is one, what passes through it both ways, and how it ends. */
import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import { after, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import type { Exchange } from '#http/exchange.ts'
import { noTrust } from './backend.ts'
import { tunnel } from './tunnel.ts'

const servers: Server[] = []
after(() => {
  for (const server of servers) server.close()
})

/**
 * A backend that answers the head of a request with a given text, and then runs a callback with its
 * socket.
 */
async function backendThat(answer: string, then: (socket: Socket, heard: string) => void) {
  const server = createServer((socket) => {
    let heard = ''
    socket.on('error', () => {})
    socket.on('data', function head(bytes) {
      heard += bytes.toString('latin1')
      if (!heard.includes('\r\n\r\n')) return
      socket.off('data', head)
      socket.write(answer)
      then(socket, heard)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The client's end of the wire: what is written to `sends` is what the client sends. */
function clientSide() {
  const sends = new PassThrough()
  const heard: Buffer[] = []
  const socket = Duplex.from({
    readable: sends,
    writable: new (class extends PassThrough {
      override _write(chunk: Buffer, _: string, done: () => void) {
        heard.push(chunk)
        done()
      }
    })(),
  })
  return { socket, sends, text: () => Buffer.concat(heard).toString() }
}

/** How often the request released its seat. */
let released = 0

interface Outcome {
  refused: string
  status: number
  streamed: string
}

async function through(
  port: number,
  { head = '', client = clientSide(), stopping = new AbortController().signal } = {},
) {
  const outcome: Outcome = { refused: '', status: 0, streamed: '' }
  const exchange = {
    auditId: 'x',
    warnings: [],
    answeredBytes: 0,
    omitsCacheHeaders: true,
    status: 0,
    seat: { release: () => void released++ },
    wire: {
      method: 'POST',
      headers: {},
      signal: new AbortController().signal,
      upgrade: { socket: client.socket, head: Buffer.from(head) },
      stream: (status: number) => {
        outcome.status = status
        return {
          write: (bytes: Buffer) => Boolean((outcome.streamed += bytes)),
          drained: async () => {},
          end: () => {},
          closed: false,
        }
      },
    },
  } as unknown as Exchange
  await tunnel(exchange, {
    backend: { secure: false, host: '127.0.0.1', port, trust: noTrust },
    path: '/exec/x?command=ls',
    headers: { host: 'h', connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-kept': 'yes' },
    stopping,
    refuse: (words) => void (outcome.refused = words),
  })
  if (exchange.status !== 0) outcome.status = exchange.status
  return { outcome, client }
}

const agreed =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Odd: ü\r\n\r\n'

test('bytes pass in both directions, first those that arrived with the heads, until the backend closes', async () => {
  let request = ''
  const port = await backendThat(`${agreed}early`, (socket, heard) => {
    request = heard
    let got = heard.slice(heard.indexOf('\r\n\r\n') + 4)
    const look = () => {
      if (got !== 'hasty later') return
      socket.end('last')
    }
    socket.on('data', (bytes) => {
      got += bytes
      look()
    })
    look()
  })
  const client = clientSide()
  const done = through(port, { head: 'hasty', client })
  await until('the backend to be asked', () => request !== '')
  client.sends.write(' later')
  const { outcome } = await done
  assert.equal(outcome.status, 101)
  assert.equal(released, 1)
  assert.match(request, /^POST \/exec\/x\?command=ls HTTP\/1\.1\r\n/)
  assert.match(request, /x-kept: yes/)
  assert.equal(client.text(), `${agreed}earlylast`)
})

test('the backend connection closes when the client disconnects', async () => {
  let closed = false
  const port = await backendThat(agreed, (socket) => {
    socket.resume()
    socket.on('close', () => {
      closed = true
    })
  })
  const client = clientSide()
  const done = through(port, { client })
  await until('the agreement', () => client.text() === agreed)
  client.socket.destroy()
  await done
  await until('the backend to be left', () => closed)
})

test('both sides close when the server stops', async () => {
  const port = await backendThat(agreed, (socket) => socket.resume())
  const stopping = new AbortController()
  const client = clientSide()
  const done = through(port, { client, stopping: stopping.signal })
  await until('the agreement', () => client.text() === agreed)
  stopping.abort()
  await done
  assert.ok(client.socket.destroyed)
})

const plain = (status: string, more = '') =>
  `HTTP/1.1 ${status}\r\n${more}Content-Length: 4\r\nConnection: close\r\n\r\nnope`
const refusals: [what: string, answer: string, expected: Outcome][] = [
  [
    'an error, which is passed on',
    plain('404 Not Found'),
    { refused: '', status: 404, streamed: 'nope' },
  ],
  [
    'a response that ignores the upgrade',
    plain('200 OK'),
    { refused: 'invalid upgrade response: status code 200', status: 0, streamed: '' },
  ],
  [
    'a redirect, which is not followed',
    plain('302 Found', 'Location: http://127.0.0.1:1/\r\n'),
    { refused: 'invalid upgrade response: status code 302', status: 0, streamed: '' },
  ],
]
for (const [what, answer, expected] of refusals) {
  test(`a backend that answers with ${what}`, async () => {
    const port = await backendThat(answer, (socket) => socket.end())
    const { outcome, client } = await through(port)
    assert.deepEqual(outcome, expected)
    assert.equal(client.text(), '')
  })
}

test('an unreachable backend is named in the error', async () => {
  const { outcome } = await through(1)
  assert.equal(
    outcome.refused,
    'error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused',
  )
})

test('a request without Upgrade gets no tunnel', async () => {
  const exchange = { wire: {} } as unknown as Exchange
  await assert.rejects(tunnel(exchange, {} as never), /did not ask to leave HTTP/)
})
