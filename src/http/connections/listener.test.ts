/** The port: both protocols, slow clients, new keys, and shutdown. Timeouts are short here. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { connect as connectPlain, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { after, before, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { until } from '#base/until.fixture.ts'
import type { Wire } from '#http/exchange.ts'
import { createListener, type Listener, type ListenerOptions } from './listener.ts'
import { selfSigned } from './self-signed.fixture.ts'

/** The timeout of the impatient server; the other has the usual one. */
const requestAwaitedMs = 1000
const prefaceMs = 800
const handshakeMs = 700

const longAgo = 'Thu, 01 Jan 1970 00:00:00 GMT'

let listener: Listener
let port: number
let hasty: Listener
let hastyPort: number
before(async () => {
  listener = listenerWith({})
  port = await listener.listen(0, '127.0.0.1')
  hasty = listenerWith({ requestAwaitedMs, prefaceMs, handshakeMs })
  hastyPort = await hasty.listen(0, '127.0.0.1')
})

function listenerWith(
  times: Pick<ListenerOptions, 'requestAwaitedMs' | 'prefaceMs' | 'handshakeMs'>,
): Listener {
  return createListener({
    ...selfSigned('first'),
    clientAuthorities: undefined,
    handle: async (wire) => {
      if (wire.url.endsWith('unread')) return wire.answer(403, {}, Buffer.from('no'))
      if (wire.url.endsWith('dated')) return wire.answer(200, { date: longAgo }, Buffer.from('old'))
      const body = await Promise.resolve(wire.readBody(1024)).catch(() => undefined)
      if (body === undefined) return wire.answer(413, {}, Buffer.from('too much'))
      const wait = Number(/wait=(\d+)/.exec(wire.url)?.[1] ?? 0)
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      wire.answer(200, { 'content-type': 'text/plain' }, Buffer.from(`${wire.method} ${body}`))
    },
    upgrade: (wire) => wire.answer(400, {}, undefined),
    upgradesAt: () => false,
    ...times,
  })
}

after(async () => {
  for (const one of [listener, hasty]) {
    const drained = one.drain()
    one.destroy()
    await drained
  }
})

const options = { host: '127.0.0.1', rejectUnauthorized: false } as const

function dial(protocol: string, at = port): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...options, port: at, ALPNProtocols: [protocol] }, () =>
      resolve(socket),
    )
    socket.on('error', reject)
  })
}

/** A connection that has not sent a byte. */
function accepted(at: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connectPlain(at, '127.0.0.1', () => setTimeout(() => resolve(socket), 30))
  })
}

/** The time until the other side closed, and the bytes that it sent before. */
async function closed(socket: TLSSocket): Promise<{ afterMs: number; stated: string }> {
  const began = performance.now()
  let stated = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => (stated += bytes.toString('latin1')))
  await new Promise((resolve) => socket.once('close', resolve))
  return { afterMs: performance.now() - began, stated }
}

test('any method name is passed on, and malformed requests are rejected', async () => {
  const head = 'Host: a\r\nX-A: 1\r\nx-a: 2\r\n__proto__: 3\r\n'
  const bad = '400 Bad Request'
  const packed = 'Transfer-Encoding: gzip, chunked'
  const unpacked = 'Unsupported transfer encoding'
  const tooLong = '431 Request Header Fields Too Large'
  const long = 'b'.repeat(400_000)
  const cases: [about: string, sent: string, status: number, body: string][] = [
    ['a word', `FROB /p HTTP/1.1\r\n${head}\r\n`, 200, 'FROB '],
    ['a small one', `get /p HTTP/1.1\r\n${head}\r\n`, 200, 'get '],
    ['with a body', `FROB /p HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`, 200, 'FROB '],
    ['many headers', `GET / HTTP/1.1\r\n${head}${'X-B: 1\r\n'.repeat(2000)}\r\n`, 200, 'GET '],
    ['a long header', `GET / HTTP/1.1\r\n${head}X-B: ${long}\r\n\r\n`, 431, tooLong],
    ['a long path', `GET /${long} HTTP/1.1\r\n${head}\r\n`, 431, tooLong],
    ['half a head', `FROB /p HTTP/1.1\r\n${head}`, 400, bad],
    ['no header', `FROB /p HTTP/1.1\r\n${head}no header\r\n\r\n`, 400, bad],
    ['no version', `FROB /p\r\n${head}\r\n`, 400, bad],
    ['no word', `F(B /p HTTP/1.1\r\n${head}\r\n`, 400, bad],
    ['behind another', `GET / HTTP/1.1\r\n${head}\r\nFROB / HTTP/1.1\r\n\r\n`, 200, bad],
    ['half a body', `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nZ\r\n`, 400, bad],
    ['no host', 'GET / HTTP/1.1\r\nX-A: 1\r\n\r\n', 400, `${bad}: missing required Host header`],
    ['two hosts', `GET / HTTP/1.1\r\n${head}Host: b\r\n\r\n`, 400, bad],
    ['no host name', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 400, `${bad}: malformed Host header`],
    ['packed twice', `POST / HTTP/1.1\r\n${head}${packed}\r\n\r\n0\r\n\r\n`, 501, unpacked],
  ]
  for (const [about, sent, status, body] of cases) {
    const socket = await dial('http/1.1')
    socket.write(sent)
    const { stated } = await closed(socket)
    assert.ok(stated.startsWith(`HTTP/1.1 ${status} `), `${about}: ${stated}`)
    assert.ok(stated.endsWith(`\r\n\r\n${body}`), `${about}: ${stated}`)
  }
})

test('a malformed request during a response is rejected after it', async () => {
  const head = 'HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const method of ['GET', 'FROB'])
    for (const second of [`FROB / ${head}`, 'F(B'])
      for (const more of ['', 'FROB', `FROB / ${head}`]) {
        const about = JSON.stringify([method, second, more])
        const socket = await dial('http/1.1')
        const ending = closed(socket)
        for (const sent of [`${method} /?wait=60 ${head}`, second, more]) {
          socket.write(sent)
          await new Promise((resolve) => setTimeout(resolve, 15))
        }
        const { stated } = await ending
        assert.match(stated, new RegExp(`^HTTP/1\\.1 200 .*\\r\\n\\r\\n${method} `, 's'), about)
        // After an unknown method nothing more is read.
        if (method === 'GET')
          assert.match(stated, /GET HTTP\/1\.1 400 .*\r\n\r\n400 Bad Request$/s, about)
      }
})

test('a client that waits for `100 Continue` gets it only when the body is read', async () => {
  const asking = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
  const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'
  const socket = await dial('http/1.1')
  let stated = ''
  socket.on('data', (bytes) => (stated += bytes))
  socket.write(asking('/', 2))
  await until('permission to send the body', () => stated === goOn)
  socket.write('{}')
  await until('answered', () => stated.endsWith('POST {}'))
  assert.match(stated, /\r\nConnection: keep-alive\r\n/)
  // A request that is rejected unread closes its connection: its body may still arrive.
  for (const [path, length] of [
    ['/?unread', 2],
    ['/', 2000],
  ] as const) {
    const refused = await dial('http/1.1')
    refused.write(asking(path, length))
    const { stated: answered } = await closed(refused)
    assert.match(answered, /^HTTP\/1\.1 4\d\d .*\r\nConnection: close\r\n/s)
  }
  socket.destroy()
})

test('a forwarded response has one Date header', async () => {
  const byHttp1 = () =>
    new Promise<string[]>((resolve) => {
      const path = '/?dated'
      request({ ...options, port, path, agent: false }, (response) => {
        resolve(response.resume().rawHeaders)
      }).end()
    })
  const byHttp2 = () =>
    new Promise<string[]>((resolve) => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
      const stream = session.request({ ':path': '/?dated' })
      stream.on('response', (_head, _flags, raw) => {
        resolve(raw)
        session.destroy()
      })
    })
  for (const ask of [byHttp1, byHttp2]) {
    const raw = await ask()
    const dates = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'date')
    assert.deepEqual(dates, [longAgo])
  }
})

test('a client that sends nothing is disconnected after the timeout', async () => {
  const cases: [about: string, protocol: string, sent: string, limitMs: number][] = [
    ['nothing at all', 'http/1.1', '', requestAwaitedMs],
    ['half a header', 'http/1.1', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ', requestAwaitedMs],
    ['nothing at all, HTTP/2', 'h2', '', prefaceMs],
    ['half a preface', 'h2', 'PRI * HTTP/2.0\r\n', prefaceMs],
  ]
  await Promise.all(
    cases.map(async ([about, protocol, sent, limitMs]) => {
      const socket = await dial(protocol, hastyPort)
      if (sent !== '') socket.write(sent)
      const { afterMs } = await closed(socket)
      // The listener's timer started a little before this one.
      assert.ok(afterMs >= limitMs / 4, `${about}: closed after ${afterMs} ms`)
    }),
  )
})

test('a client that does not finish its handshake is disconnected', async () => {
  // The first bytes of a TLS ClientHello, and nothing more.
  for (const stated of ['', '\x16\x03\x01\x02\x00\x01']) {
    const socket = connectPlain(hastyPort, '127.0.0.1', () => socket.write(stated, 'latin1'))
    socket.on('error', () => {})
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
  }
})

test('headers that arrive byte by byte do not extend the timeout', async () => {
  const socket = await dial('http/1.1', hastyPort)
  const drip = setInterval(() => !socket.destroyed && socket.write('X: '), 40)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n')
  await closed(socket)
  clearInterval(drip)
})

test('a long-running request is not cut off by the timeout for headers', async () => {
  const path = `/?wait=${requestAwaitedMs + 500}`
  const byHttp1 = () =>
    new Promise<string | undefined>((resolve) => {
      const requested = request({ ...options, port: hastyPort, path, agent: false }, (response) => {
        let text = ''
        response.on('data', (bytes) => (text += bytes))
        response.on('end', () => resolve(`${response.statusCode} ${text}`))
      })
      requested.on('error', () => resolve(undefined))
      requested.end()
    })
  const byHttp2 = () =>
    new Promise<string | undefined>((resolve) => {
      const session = connectHttp2(`https://127.0.0.1:${hastyPort}`, { rejectUnauthorized: false })
      session.on('error', () => {})
      session.on('close', () => resolve(undefined))
      const stream = session.request({ ':path': path })
      stream.on('error', () => {})
      stream.on('response', (head) => {
        resolve(`${head[':status']} GET `)
        session.destroy()
      })
    })
  // On a busy machine the request itself may be sent too late.
  for (const ask of [byHttp1, byHttp2]) assert.equal(await until('an answer', ask), '200 GET ')
})

test('new keys apply to new connections, and the cipher suites stay', async () => {
  const greeting = async () => {
    const socket = await dial('http/1.1')
    const name = socket.getPeerCertificate().subject.CN
    const cipher = socket.getCipher().standardName
    socket.destroy()
    return [name, cipher]
  }
  assert.deepEqual(await greeting(), ['first', 'TLS_AES_128_GCM_SHA256'])
  listener.renew(selfSigned('second'))
  assert.deepEqual(await greeting(), ['second', 'TLS_AES_128_GCM_SHA256'])
})

/** A connection of a TLS version with a visible handshake: everything before it was secure. */
async function shownInHandshake(at: number): Promise<string> {
  const raw = await accepted(at)
  let shown = ''
  const seen = new Duplex({
    read() {},
    write: (bytes, _encoding, done) => raw.write(bytes, () => done()),
  })
  raw.on('data', (bytes) => {
    shown += bytes.toString('latin1')
    seen.push(bytes)
  })
  const socket = connect({ ...options, socket: seen, maxVersion: 'TLSv1.2' })
  await once(socket, 'secureConnect')
  raw.destroy()
  return shown
}

test('new clients see the new authorities, with the same keys', async () => {
  const own = listenerWith({})
  const at = await own.listen(0, '127.0.0.1')
  own.renew(selfSigned('renewed'))
  for (const name of ['one-authority', 'another-authority']) {
    own.trust(Buffer.from(selfSigned(name).cert))
    const shown = await shownInHandshake(at)
    assert.deepEqual(shown.match(/[a-z]+-authority|renewed/g), ['renewed', 'renewed', name])
  }
  await own.drain()
  own.destroy()
})

test('an unfinished handshake is cut off when the server drains, in any protocol', async () => {
  for (const protocol of ['http/1.1', 'h2']) {
    const own = createListener({
      ...selfSigned('own'),
      clientAuthorities: undefined,
      handle: () => {},
      upgrade: () => {},
      upgradesAt: () => false,
    })
    const at = await own.listen(0, '127.0.0.1')
    // Another connection keeps the drain from completing before this one is accepted.
    const other = await accepted(at)
    const raw = await accepted(at)
    const drained = own.drain()
    const socket = connect({ ...options, socket: raw, ALPNProtocols: [protocol] })
    await closed(socket)
    other.destroy()
    await drained
    own.destroy()
  }
})

test('draining lets a running request finish and accepts no new one', async () => {
  let requested: Wire | undefined
  const own = createListener({
    ...selfSigned('own'),
    clientAuthorities: undefined,
    handle: (wire) => {
      requested = wire
    },
    upgrade: () => {},
    upgradesAt: () => false,
  })
  const at = await own.listen(0, '127.0.0.1')
  const session = connectHttp2(`https://127.0.0.1:${at}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  const answered = new Promise((resolve) => {
    const stream = session.request({ ':path': '/' })
    let text = ''
    stream.on('data', (bytes) => (text += bytes))
    stream.on('end', () => resolve(text))
  })
  const running = await until('the request', () => requested)
  const drained = own.drain()
  running.answer(200, {}, Buffer.from('done'))
  assert.equal(await answered, 'done')
  await drained
  const refused = await new Promise((resolve) => {
    connect({ ...options, port: at }).on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code),
    )
  })
  assert.equal(refused, 'ECONNREFUSED')
  session.destroy()
  own.destroy()
})
