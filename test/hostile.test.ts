/**
 * What no client should send: seeded, bounded, and at the end the server is as well as it was at
 * the beginning.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import http2 from 'node:http2'
import net from 'node:net'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import tls from 'node:tls'
import { until } from '#base/until.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
let session: http2.ClientHttp2Session

before(async () => {
  server = await startServer()
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  session = http2.connect(server.url, {
    ca: pem('ca.crt'),
    cert: pem('admin.crt'),
    key: pem('admin.key'),
  })
  session.on('error', () => {})
})
after(async () => {
  session.destroy()
  await server.stop()
})

/** Always the same numbers: a failure can be had again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return (state >>> 0) % below
  }
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly headers: http2.IncomingHttpHeaders
}

function ask(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: http2.OutgoingHttpHeaders = {},
): Promise<Reply> {
  return new Promise((resolve) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const stream = session.request(
      { ':method': method, ':path': path, ...type, ...headers },
      { endStream: body === undefined },
    )
    const chunks: Buffer[] = []
    let answered: http2.IncomingHttpHeaders = {}
    stream.on('response', (got) => {
      answered = got
    })
    stream.on('data', (chunk) => chunks.push(chunk))
    stream.on('error', () => {})
    stream.on('close', () => {
      const status = Number(answered[':status'] ?? 0)
      resolve({ status, text: Buffer.concat(chunks).toString('utf8'), headers: answered })
    })
    if (body !== undefined) stream.end(body)
  })
}

/**
 * Bytes over TLS as they are; resolves with what came back when the connection ends or time is
 * over.
 */
function raw(
  bytes: (string | Buffer)[],
  protocol: 'h2' | 'http/1.1' = 'http/1.1',
  awaited?: RegExp,
): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = tls.connect({
      port: server.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
    })
    const done = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(heard)
    }
    const timer = setTimeout(done, awaited === undefined ? 300 : 60_000)
    socket.on('secureConnect', () => {
      for (const part of bytes) socket.write(part)
    })
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1')
      if (awaited?.test(heard)) done()
    })
    socket.on('error', () => {})
    socket.on('close', done)
  })
}

const h2Preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

function h2Frame(type: number, flags: number, stream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

async function isWell(): Promise<void> {
  const { status, text } = await server.ask('GET', '/readyz')
  assert.deepEqual([status, text], [200, 'ok'])
}

const memoryMiB = () => {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))
  return Number(line?.[1]) / 1024
}

const maps = '/api/v1/namespaces/default/configmaps'

test('paths that play tricks reach nothing they should not', async () => {
  await ask('POST', '/api/v1/namespaces/default/secrets', '{"metadata":{"name":"hidden"}}')
  const cases: [path: string, status: number][] = [
    ['//api/v1/namespaces/default/secrets/hidden', 404],
    ['/api//v1/namespaces/default/secrets/hidden', 404],
    ['/api/v1//namespaces/default/secrets/hidden', 404],
    ['/api/v1/namespaces/default/configmaps/../secrets/hidden', 404],
    ['/api/v1/namespaces/default/configmaps/%2e%2e/secrets/hidden', 404],
    ['/api/v1/namespaces/default/configmaps/..%2fsecrets%2fhidden', 404],
    ['/api/v1/namespaces/default/configmaps/..', 400],
    ['/api/v1/namespaces/default/secrets/hidden%00', 404],
    ['/api/v1/namespaces/default/secrets/%', 400],
    ['/api/v1/namespaces/default/secrets/%zz', 400],
    ['/api/v1/namespaces/default/secrets/%ff', 400],
    ['/api/v1/namespaces/default/secrets/hidden/', 200],
    ['/api/v1/namespaces/default/secrets/hidden', 200],
    ['/apis/__proto__/__proto__/__proto__', 404],
    ['/api/v1/constructor', 404],
    ['/api/v1/namespaces/default/pods/x/constructor', 404],
    ['/readyz/__proto__', 404],
    [`/api/v1/namespaces/${'n'.repeat(8000)}/pods`, 200],
    [`/${'a/'.repeat(4000)}`, 404],
  ]
  for (const [path, status] of cases)
    assert.equal((await ask('GET', path)).status, status, path.slice(0, 100))
  for (const method of ['constructor', '__proto__', 'TRACE', 'get', 'PROPFIND']) {
    assert.equal((await ask(method, '/api/v1/namespaces/default')).status, 405, method)
  }
  await isWell()
})

test('bodies that are no objects are refused as what they are', async () => {
  const limit = 3 * 1024 * 1024
  const cases: [what: string, body: string | Buffer, status: number][] = [
    ['nothing', '', 400],
    ['a list', '[]', 400],
    ['a number', '1', 400],
    ['half an object', '{"metadata":', 400],
    ['a zero byte', '\0', 400],
    ['a byte order mark', '\ufeff{}', 400],
    ['bad UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 422],
    ['deep lists', '['.repeat(100_000), 400],
    ['deep objects', '{"a":'.repeat(100_000), 400],
    ['deep and closed', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 400],
    ['a number without end', `{"metadata":{"name":"n","generation":${'9'.repeat(400)}}}`, 400],
    ['over the limit', Buffer.alloc(limit + 1, 0x20), 413],
    ['at the limit', Buffer.alloc(limit, 0x20), 400],
    [
      'too much data',
      JSON.stringify({ metadata: { name: 'big' }, data: { a: 'x'.repeat((1 << 20) + 1) } }),
      422,
    ],
  ]
  for (const [what, body, status] of cases) {
    const reply = await ask('POST', maps, body)
    assert.equal(reply.status, status, `${what}: ${reply.text.slice(0, 200)}`)
    assert.equal(JSON.parse(reply.text).kind, 'Status', what)
  }
  const chunked = [
    'POST ',
    maps,
    ' HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  ]
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  const refusal = /^HTTP\/1\.1 (413|403|401) /
  const answered = await raw([chunked.join(''), chunk.repeat(60)], 'http/1.1', refusal)
  assert.match(answered, refusal)
  const twice = await ask(
    'POST',
    maps,
    '{"metadata":{"name":"a","name":"twice"},"data":{"k":"1","k":"2"}}',
  )
  assert.equal(JSON.parse(twice.text).data.k, '2', 'the last of two keys counts')
  await isWell()
})

test('names that JavaScript has uses for are names', async () => {
  const data = '{"__proto__":"1","constructor":"2","hasOwnProperty":"3"}'
  const labels = '{"constructor":"a","toString":"b"}'
  const made = await ask(
    'POST',
    maps,
    `{"metadata":{"name":"proto","labels":${labels},"annotations":${labels}},"data":${data},"__proto__":{"x":1}}`,
  )
  assert.equal(made.status, 201, made.text)
  const place = `${maps}/proto`
  const value = (text: string) => JSON.parse(text).data
  const expect = (text: string, proto: string) => {
    assert.equal(Object.getOwnPropertyDescriptor(value(text), '__proto__')?.value, proto)
    assert.equal(value(text).hasOwnProperty, '3')
    assert.equal(JSON.parse(text).metadata.labels.constructor, 'a')
  }
  expect(made.text, '1')
  const patches: [type: string, body: string, proto: string][] = [
    ['application/json-patch+json', '[{"op":"replace","path":"/data/__proto__","value":"J"}]', 'J'],
    ['application/merge-patch+json', '{"data":{"__proto__":"M"}}', 'M'],
    ['application/strategic-merge-patch+json', '{"data":{"__proto__":"S"}}', 'S'],
    [
      'application/apply-patch+yaml',
      '{"apiVersion":"v1","kind":"ConfigMap","data":{"__proto__":"A"}}',
      'A',
    ],
  ]
  for (const [type, body, proto] of patches) {
    const path = `${place}?fieldManager=m${type.includes('apply') ? '&force=true' : ''}`
    const reply = await ask('PATCH', path, body, { 'content-type': type })
    assert.equal(reply.status, 200, `${type} ${reply.text}`)
    expect(reply.text, proto)
  }
  expect((await ask('GET', place)).text, 'A')
  const watched = await ask(
    'GET',
    `${maps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=proto`,
  )
  expect(JSON.stringify(JSON.parse(watched.text.split('\n')[0]).object), 'A')
  const protobuf = await ask('GET', place, undefined, {
    accept: 'application/vnd.kubernetes.protobuf',
  })
  assert.match(protobuf.text, /__proto__\x12\x01A/)
  for (const path of [
    '/__proto__/polluted',
    '/constructor/prototype/polluted',
    '/metadata/__proto__/polluted',
  ]) {
    const patch = JSON.stringify([{ op: 'add', path, value: 'x' }])
    const reply = await ask('PATCH', place, patch, {
      'content-type': 'application/json-patch+json',
    })
    assert.equal(reply.status, 422, path)
  }
  await isWell()
})

test('patches without measure are refused or done in time', async () => {
  await ask('POST', maps, '{"metadata":{"name":"patched"},"data":{"b":"c"}}')
  const json = { 'content-type': 'application/json-patch+json' }
  const tests = (count: number) =>
    JSON.stringify(
      Array.from({ length: count }, () => ({ op: 'test', path: '/data/b', value: 'c' })),
    )
  const doubling = JSON.stringify([
    { op: 'add', path: '/x', value: { y: 'z'.repeat(1000) } },
    ...Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/x', path: `/x/${i}` })),
  ])
  const aliases = ['a: &a [x,x,x,x,x,x,x,x,x]']
  for (const [name, from] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg', 'ih']) {
    aliases.push(`${name}: &${name} [${`*${from},`.repeat(8)}*${from}]`)
  }
  assert.equal((await ask('PATCH', `${maps}/patched`, tests(10_000), json)).status, 200)
  assert.equal((await ask('PATCH', `${maps}/patched`, tests(10_001), json)).status, 413)
  const doubled = await ask('PATCH', `${maps}/patched`, doubling, json)
  assert.ok(
    [400, 413, 422].includes(doubled.status),
    `${doubled.status} ${doubled.text.slice(0, 100)}`,
  )
  const yaml = { 'content-type': 'application/apply-patch+yaml' }
  assert.equal(
    (await ask('PATCH', `${maps}/patched?fieldManager=m`, aliases.join('\n'), yaml)).status,
    400,
  )
  await isWell()
})

for (const seed of [7, 1912])
  test(`selectors, versions and tokens of any letters are answered, seed ${seed}`, async () => {
    const random = randomFrom(seed)
    const letters = [
      'a',
      'b',
      '=',
      '!',
      ',',
      '(',
      ')',
      ' in ',
      ' notin ',
      '\\',
      '/',
      '.',
      '\0',
      '"',
      'é',
      '%',
      '==',
    ] as const
    const token = Buffer.from(
      JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1, start: 'default/a\0' }),
    ).toString('base64url')
    for (let round = 0; round < 150; round++) {
      let text = ''
      for (let i = random(12); i >= 0; i--) text += letters[random(letters.length)]
      const mangled = Buffer.from(token)
      mangled[random(mangled.length)] = 33 + random(90)
      const query = [
        `labelSelector=${encodeURIComponent(text)}`,
        `fieldSelector=${encodeURIComponent(text)}`,
        `continue=${encodeURIComponent(mangled.toString('latin1'))}`,
        `limit=${encodeURIComponent(text)}`,
      ][round % 4]
      const { status } = await ask('GET', `${maps}?${query}`)
      assert.ok([200, 400, 410].includes(status), `${status} ${query}`)
    }
    const climbing = ['../../secrets/default/', '..', 'a/../../b', '/../x', 'a//b', './a']
    for (const start of climbing) {
      const forged = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start })).toString(
        'base64url',
      )
      assert.equal((await ask('GET', `${maps}?limit=5&continue=${forged}`)).status, 400, start)
    }
    await isWell()
  })

for (const seed of [11, 2004])
  test(`decoders take any bytes, seed ${seed}`, async () => {
    const random = randomFrom(seed)
    const good = {
      'application/json': Buffer.from(
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fuzz"},"data":{"a":"b"}}',
      ),
      'application/yaml': Buffer.from(
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fuzz\ndata:\n  a: "b"\n',
      ),
      'application/vnd.kubernetes.protobuf': Buffer.concat([
        Buffer.from('k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x10', 'latin1'),
        Buffer.from('\x0a\x06\x0a\x04fuzz\x12\x06\x0a\x01a\x12\x01b', 'latin1'),
      ]),
    }
    for (const [type, bytes] of Object.entries(good)) {
      for (let round = 0; round < 80; round++) {
        const mangled = Buffer.from(bytes)
        for (let i = random(4); i >= 0; i--) mangled[random(mangled.length)] = random(256)
        const cut = random(3) === 0 ? mangled.subarray(0, random(mangled.length)) : mangled
        const { status, text } = await ask('POST', `${maps}?dryRun=All`, cut, {
          'content-type': type,
        })
        assert.ok(
          status >= 200 && status < 500 && status !== 0,
          `${status} ${type} ${cut.toString('hex')} ${text}`,
        )
      }
    }
    await isWell()
  })

for (const seed of [3, 1815])
  test(`random bytes end their connection and nothing else, seed ${seed}`, async () => {
    const random = randomFrom(seed)
    const get = 'GET /readyz HTTP/1.1\r\nHost: a\r\n'
    const noise = (length: number) => Buffer.from(Array.from({ length }, () => random(256)))
    const preface = h2Preface
    const frame = h2Frame
    const settings = frame(4, 0, 0, Buffer.alloc(0))
    const one: (string | Buffer)[][] = [
      ['\r\n\r\n\r\n'],
      ['GET\r\n\r\n'],
      ['GET / HTTP/9.9\r\n\r\n'],
      [`${get}X: ${'y'.repeat(100_000)}\r\n\r\n`],
      [`${get}${'A: b\r\n'.repeat(5000)}\r\n`],
      [`GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
      [`${get}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
      [`${get}Content-Length: -1\r\n\r\n`],
      [`${get}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      [`${get}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
      [`${get}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`],
      [`${get}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`],
      [
        `${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
      ],
      ['GET http://other/readyz HTTP/1.1\r\nHost: other\r\n\r\n'],
      ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n'],
      [`${get}Authorization: Bearer \0\r\n\r\n`],
      [`${get}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`],
      [preface],
      ...Array.from({ length: 8 }, () => [noise(1 + random(2000))]),
    ]
    const two: (string | Buffer)[][] = [
      [preface],
      ['GET / HTTP/1.1\r\n\r\n'],
      [preface, frame(4, 0, 0, noise(6))],
      [preface, settings, frame(1, 5, 1, noise(50))],
      [preface, settings, frame(1, 0, 1, noise(50)), frame(9, 0, 1, noise(60))],
      [preface, settings, frame(0, 0, 1, noise(50))],
      [preface, settings, frame(8, 0, 0, Buffer.alloc(4))],
      [preface, settings, frame(3, 0, 5, Buffer.alloc(4))],
      [preface, settings, frame(7, 0, 0, noise(12))],
      [preface, settings, frame(6, 0, 0, noise(3))],
      [preface, settings, ...Array.from({ length: 2000 }, () => frame(6, 0, 0, Buffer.alloc(8)))],
      [preface, settings, ...Array.from({ length: 2000 }, () => frame(4, 0, 0, Buffer.alloc(0)))],
      [preface, settings, ...Array.from({ length: 300 }, () => frame(9, 0, 1, noise(100)))],
      ...Array.from({ length: 8 }, () => [preface, settings, noise(1 + random(2000))]),
    ]
    await Promise.all(one.map((bytes) => raw(bytes)))
    await isWell()
    await Promise.all(two.map((bytes) => raw(bytes, 'h2')))
    await isWell()
  })

const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length
const silent = 200
const begin = { port: 0, host: '127.0.0.1', rejectUnauthorized: false }
const post = `POST ${maps} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n`
const beginnings: [what: string, first: (port: number) => net.Socket][] = [
  ['a connection', (port) => net.connect(port, begin.host)],
  [
    'a handshake',
    (port) => saying(net.connect(port, begin.host), '\x16\x03\x01\x02\0\x01', 'connect'),
  ],
  ['TLS', (port) => tls.connect({ ...begin, port })],
  [
    'a head',
    (port) => saying(tls.connect({ ...begin, port }), 'GET /api/v1/pods HTTP/1.1\r\nX-Slow: '),
  ],
  ['a body', (port) => saying(tls.connect({ ...begin, port }), post + ' '.repeat(20_000))],
  [
    'HTTP/2',
    (port) => saying(tls.connect({ ...begin, port, ALPNProtocols: ['h2'] }), 'PRI * HTTP/2.0\r\n'),
  ],
]
/** A connection that says something once it is there, and nothing more. */
function saying(socket: net.Socket, text: string, event = 'secureConnect'): net.Socket {
  return socket.on(event, () => socket.write(text, 'latin1'))
}
for (const [what, first] of beginnings)
  test(`many clients that begin ${what} and never go on do not block others`, async () => {
    const before = memoryMiB()
    let there = 0
    const sockets = Array.from({ length: silent }, () => {
      const socket = first(server.port).on('error', () => {})
      return socket.once(
        socket instanceof tls.TLSSocket ? 'secureConnect' : 'connect',
        () => there++,
      )
    })
    await until('all to be there', () => there === silent)
    await isWell()
    const grown = memoryMiB() - before
    assert.ok(grown < 100, `${silent} silent connections cost ${grown.toFixed(0)} MiB`)
    for (const socket of sockets) socket.destroy()
    await until('all to be gone', () => descriptors() < silent / 2)
  })

const hpack = (...fields: [name: string, value: string][]) =>
  Buffer.concat(
    fields.flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]),
  )
const listing = hpack(
  [':method', 'GET'],
  [':path', `${maps}?limit=500`],
  [':scheme', 'https'],
  [':authority', 'a'],
)
const word = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])
const numbers = (count: number) => Array.from({ length: count }, (_, i) => 2 * i + 1)
const whole = 5
/**
 * Abuses of HTTP/2: what each connection says after its preface, and whether it is ended for that.
 */
const abuses: [what: string, said: Buffer[], ended: boolean][] = [
  [
    'requests that are taken back',
    numbers(3000).flatMap((id) => [h2Frame(1, whole, id, listing), h2Frame(3, 0, id, word(8))]),
    true,
  ],
  [
    'requests that we have to take back',
    numbers(3000).flatMap((id) => [h2Frame(1, whole, id, listing), h2Frame(8, 0, id, word(0))]),
    true,
  ],
  [
    'endless CONTINUATION frames',
    [h2Frame(1, 0, 1, listing), ...Array(500).fill(h2Frame(9, 0, 1, Buffer.alloc(16_000, 0x41)))],
    true,
  ],
  ['endless CONTINUATION frames', Array(100_000).fill(h2Frame(9, 0, 1, Buffer.alloc(0))), true],
  [
    'one large header, named again and again',
    [
      h2Frame(
        1,
        whole,
        1,
        Buffer.concat([
          listing,
          Buffer.from([0x40, 1, 0x61, 0x7f, 0xbd, 0x1d]),
          Buffer.alloc(3900, 0x62),
        ]),
      ),
      ...numbers(50)
        .slice(1)
        .map((id) => h2Frame(1, whole, id, Buffer.concat([listing, Buffer.alloc(16_000, 0xbe)]))),
    ],
    true,
  ],
  [
    'responses that the client does not read',
    [
      h2Frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
      ...numbers(250).map((id) => h2Frame(1, whole, id, listing)),
    ],
    false,
  ],
  [
    'windows that open and shut',
    [
      ...numbers(250).map((id) => h2Frame(1, whole, id, listing)),
      ...Array.from({ length: 3000 }, (_, i) =>
        h2Frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, i % 2])),
      ),
    ],
    true,
  ],
]
for (const [what, said, isEnded] of abuses)
  test(`HTTP/2: ${what} cost little`, async () => {
    const before = memoryMiB()
    const bytes = Buffer.concat([
      Buffer.from(h2Preface),
      h2Frame(4, 0, 0, Buffer.alloc(0)),
      ...said,
    ])
    const sockets = Array.from({ length: 10 }, () => {
      const socket = tls.connect({ ...begin, port: server.port, ALPNProtocols: ['h2'] })
      socket.on('error', () => {})
      socket.on('secureConnect', () => socket.write(bytes))
      return socket.resume()
    })
    if (isEnded) await until('all to be ended', () => sockets.every(({ destroyed }) => destroyed))
    else await until('all to be heard', () => sockets.every(({ bytesRead }) => bytesRead > 2000))
    await isWell()
    const grown = memoryMiB() - before
    assert.ok(grown < 100, `it cost ${grown.toFixed(0)} MiB`)
    for (const socket of sockets) socket.destroy()
    await until('all to be gone', () => descriptors() < 60)
  })

test('after all of this it is small, well, and has complained of nothing', async () => {
  await isWell()
  assert.ok(memoryMiB() < 600, `${memoryMiB().toFixed(0)} MiB`)
  assert.doesNotMatch(server.said(), /failed|could not be written|unhandled| {4}at /i)
})
