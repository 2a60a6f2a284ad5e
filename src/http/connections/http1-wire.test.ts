/**
 * One HTTP/1.1 request as a wire: its body and the limit, its response, and the client's
 * disconnect.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import type { Wire } from '#http/exchange.ts'
import { wireOfHttp1 } from './http1-wire.ts'

let handle: (wire: Wire, request: IncomingMessage, response: ServerResponse) => void = () => {}
const server = createServer((request, response) => {
  handle(wireOfHttp1(request, response), request, response)
})
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
after(() => {
  server.closeAllConnections()
  server.close()
})

/**
 * Sends the text, and resolves with all received bytes when the other side closes or `enough`
 * arrived.
 */
function send(text: string, enough?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let heard = ''
    socket.on('data', (bytes) => {
      heard += bytes
      if (enough?.test(heard)) socket.destroy()
    })
    socket.on('close', () => resolve(heard))
    socket.on('error', reject)
    socket.write(text)
  })
}
const request = (method: string, headers: string, body = '') =>
  `${method} /path?a=b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${headers}\r\n${body}`
const chunked = (...pieces: string[]) =>
  [...pieces, ''].map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')

const bodies: [what: string, text: string, limit: number, expected: string][] = [
  ['none', request('GET', ''), 10, ''],
  ['as long as declared', request('POST', 'Content-Length: 5\r\n', 'hello'), 10, 'hello'],
  ['as long as the limit', request('POST', 'Content-Length: 5\r\n', 'hello'), 5, 'hello'],
  [
    'longer, as declared',
    request('POST', 'Content-Length: 5\r\n', 'hello'),
    4,
    '413 Request entity too large: limit is 4',
  ],
  [
    'in pieces',
    request('POST', 'Transfer-Encoding: chunked\r\n', chunked('he', 'llo')),
    10,
    'hello',
  ],
  [
    'in pieces, and longer',
    request('POST', 'Transfer-Encoding: chunked\r\n', chunked('hel', 'lo')),
    4,
    '413 Request entity too large: limit is 4',
  ],
]
const bodyOf = async (wire: Wire, limit = 100): Promise<Buffer> => wire.readBody(limit)

for (const [what, text, limit, expected] of bodies) {
  test(`a body that is ${what}`, async () => {
    let read = ''
    handle = async (wire) => {
      read = await bodyOf(wire, limit).then(String, (error) =>
        error instanceof ApiError ? `${error.code} ${error.message}` : String(error),
      )
      wire.answer(200, {}, Buffer.from('ok'))
    }
    assert.match(await send(text), /^HTTP\/1\.1 200 OK\r\n/)
    assert.equal(read, expected)
  })
}

test('a body is an error if its client disconnects', async () => {
  let requested = false
  const read = new Promise((resolve) => {
    handle = (wire) => {
      requested = true
      void bodyOf(wire).then(resolve, resolve)
    }
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(request('POST', 'Content-Length: 50\r\n', 'hello'))
  await until('the request', () => requested)
  socket.destroy()
  assert.ok((await read) instanceof Error)
})

const pieces = [Buffer.from('one'), Buffer.from('two')]
const answers: [what: string, method: string, act: (wire: Wire) => void, expected: RegExp][] = [
  [
    'at once',
    'GET',
    (wire) => wire.answer(201, { 'x-a': 'b' }, Buffer.from('body')),
    /^HTTP\/1\.1 201 Created\r\nx-a: b\r\ncontent-length: 4\r\n(.+\r\n)*\r\nbody$/,
  ],
  [
    'without a body',
    'GET',
    (wire) => wire.answer(200, {}, undefined),
    /\r\ncontent-length: 0\r\n(.+\r\n)*\r\n$/,
  ],
  [
    'of a HEAD, which has the length alone',
    'HEAD',
    (wire) => wire.answer(200, {}, Buffer.from('body')),
    /\r\ncontent-length: 4\r\n(.+\r\n)*\r\n$/,
  ],
  [
    'in several buffers',
    'GET',
    (wire) => wire.answerPieces(200, {}, pieces),
    /\r\ncontent-length: 6\r\n(.+\r\n)*\r\nonetwo$/,
  ],
  [
    'in several buffers of a HEAD',
    'HEAD',
    (wire) => wire.answerPieces(200, {}, pieces),
    /\r\ncontent-length: 6\r\n(.+\r\n)*\r\n$/,
  ],
  [
    'twice, of which the first counts',
    'GET',
    (wire) => {
      wire.answer(200, {}, Buffer.from('first'))
      wire.answer(500, {}, Buffer.from('second'))
      wire.answerPieces(500, {}, pieces)
    },
    /^HTTP\/1\.1 200 OK\r\n(.+\r\n)*\r\nfirst$/,
  ],
  [
    'as a stream',
    'GET',
    (wire) => {
      const sink = wire.stream(200, { 'content-type': 'text/plain' })
      sink.write(Buffer.from('one'))
      setTimeout(() => {
        sink.end()
        sink.end()
      }, 10)
    },
    /transfer-encoding: chunked\r\n(.+\r\n)*\r\n3\r\none\r\n0\r\n\r\n$/i,
  ],
  [
    'as a stream that is broken off',
    'GET',
    (wire) => {
      const sink = wire.stream(200, {})
      sink.write(Buffer.from('one'))
      setTimeout(() => sink.abort?.(), 20)
    },
    /\r\n3\r\none\r\n$/,
  ],
]
for (const [what, method, act, expected] of answers) {
  test(`an answer ${what}`, async () => {
    handle = (wire) => act(wire)
    assert.match(await send(request(method, '')), expected)
  })
}

// Header strings have one character per byte: `ü` is two characters.
const inBytes: Readonly<Record<string, (wire: Wire) => void>> = {
  answer: (wire) => wire.answer(200, { warning: '\u00c3\u00bc' }, Buffer.from('ok')),
  'bodiless answer': (wire) => wire.answer(200, { warning: '\u00c3\u00bc' }, undefined),
  'answer in pieces': (wire) =>
    wire.answerPieces(200, { warning: '\u00c3\u00bc' }, [Buffer.from('o'), Buffer.from('k')]),
  stream: (wire) => void wire.stream(200, { warning: '\u00c3\u00bc' }).end(),
  'stream that waits': (wire) => void wire.stream(200, { warning: '\u00c3\u00bc' }),
}
for (const [what, act] of Object.entries(inBytes)) {
  test(`headers of a ${what} are sent as bytes`, async () => {
    handle = act
    assert.match(await send(request('GET', ''), /\r\n\r\n/), /\r\nwarning: ü\r\n/)
  })
}

test('the received request is passed on unchanged', async () => {
  let seen: unknown[] = []
  handle = (wire) => {
    const { method, url, remoteAddress, headers, separateHeaders } = wire
    seen = [method, url, remoteAddress, headers['x-a'], separateHeaders['x-a']]
    wire.answer(200, {}, undefined)
  }
  await send(request('GET', 'X-A: 1\r\nX-A: 2\r\n'))
  assert.deepEqual(seen.slice(0, 4), ['GET', '/path?a=b', '127.0.0.1', '1, 2'])
  assert.deepEqual(seen[4], ['1', '2'])
})

test('the signal and the sink report that a client disconnects', async () => {
  const noticed = new Promise<unknown[]>((resolve) => {
    handle = (wire) => {
      const { signal } = wire
      assert.equal(wire.signal, signal)
      const sink = wire.stream(200, {})
      sink.write(Buffer.from('enough'))
      sink.onClose?.(() => setImmediate(() => resolve([signal.aborted, sink.closed])))
    }
  })
  await send(request('GET', ''), /enough/)
  assert.deepEqual(await noticed, [true, true])
})

test('a client that disconnects before the first read is reported', async () => {
  const noticed = new Promise<boolean>((resolve) => {
    handle = (wire) => void bodyOf(wire).catch(() => resolve(wire.signal.aborted))
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(request('POST', 'Content-Length: 50\r\n', 'hello'), () => socket.destroy())
  assert.equal(await noticed, true)
})

test('after a disconnect during the response nothing waits, and later listeners are called at once', async () => {
  const left = new Promise<Wire>((resolve) => {
    handle = (wire) => {
      const sink = wire.stream(200, {})
      sink.write(Buffer.from('enough'))
      sink.onClose?.(() => setImmediate(() => resolve(wire)))
    }
  })
  await send(request('GET', ''), /enough/)
  const wire = await left
  let reported = 0
  wire.onClose?.(() => reported++)
  assert.deepEqual([wire.isWaiting, reported], [false, 1])
})

test('a large response waits until its client has read it', async () => {
  const large = 64 * 1024 * 1024
  const waited = new Promise<boolean[]>((resolve) => {
    handle = (wire) => {
      const before = wire.isWaiting === true
      wire.answer(200, {}, Buffer.alloc(large))
      const meanwhile = wire.isWaiting === true
      wire.onClose?.(() => resolve([before, meanwhile, wire.isWaiting === true]))
    }
  })
  const answered = await send(request('GET', ''))
  assert.ok(answered.length > large)
  assert.deepEqual(await waited, [false, true, false])
})

/** Sends a request, and reads nothing until the test resumes or destroys the socket. */
function askUnread() {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  socket.on('error', () => {})
  socket.write(request('GET', ''))
  return socket
}

test('a writer waits for a slow client until the client reads or disconnects', async () => {
  for (const goOn of ['resume', 'destroy'] as const) {
    const reported = new Promise<{ drained: Promise<void> }>((resolve) => {
      handle = (wire) => {
        const sink = wire.stream(200, {})
        // More bytes than socket buffers hold.
        assert.equal(sink.write(Buffer.alloc(64 << 20)), false)
        resolve({ drained: sink.drained() })
      }
    })
    const socket = askUnread()
    const { drained } = await reported
    let room = false
    void drained.then(() => {
      room = true
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(room, false)
    socket[goOn]()
    await drained
    socket.destroy()
  }
})

test('a large response is written in small steps, in one piece or in many', async () => {
  const answers: ((wire: Wire) => void)[] = [
    (wire) => wire.answer(200, {}, Buffer.alloc(64 << 20)),
    (wire) => wire.answerPieces(200, {}, Array(64).fill(Buffer.alloc(1 << 20))),
  ]
  for (const answer of answers) {
    let response: ServerResponse | undefined
    let wire: Wire | undefined
    handle = (given, _, made) => {
      ;[wire, response] = [given, made]
      answer(given)
    }
    const socket = askUnread()
    await until('the answer to begin', () => response?.headersSent === true)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.ok((response?.writableLength as number) < 4 << 20, `${response?.writableLength} wait`)
    assert.equal(wire?.isWaiting, true)
    let heard = 0
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.length
    })
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
    assert.ok(heard > 64 << 20)
    assert.equal(wire?.isWaiting, false)
  }
})

test('an upgraded connection sends no HTTP response', () => {
  const wire = wireOfHttp1(
    { url: '/', headers: {}, rawHeaders: [], socket: {}, once: () => {} } as never,
    undefined,
  )
  wire.answer(200, {}, undefined)
  wire.answerPieces(200, {}, [])
  assert.throws(() => wire.stream(200, {}), /no answer to stream/)
})

const targets: [requested: string, path: string][] = [
  ['/api?watch=1', '/api?watch=1'],
  ['https://kubernetes:443/api?watch=1', '/api?watch=1'],
  ['HTTP://kubernetes//api', '//api'],
  ['https://kubernetes', '/'],
  ['https://kubernetes?pretty', '/?pretty'],
  ['*', '*'],
]
for (const [requested, path] of targets) {
  test(`${requested} is the path ${path}`, () => {
    const request = { url: requested, headers: {}, rawHeaders: [], socket: {}, once: () => {} }
    assert.equal(wireOfHttp1(request as never, undefined).url, path)
  })
}
