/** A connection without a network: bytes in, frames out. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { Wire } from '#http/exchange.ts'
import { Client, type Frame, frame } from './client.fixture.ts'
import {
  errorCode,
  flag,
  frameType,
  preface,
  setting,
  settingsAckFrame,
  settingsFrame,
} from './frames.ts'

/** `GET /` over https; with a body to come, POST. */
const get = Buffer.from('828784', 'hex')
const post = Buffer.from('838784', 'hex')
const { data, headers, reset, settings, ping, windowUpdate, continuation, priority } = frameType
const whole = flag.endHeaders | flag.endStream
const word = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])

const codeOf = (frames: Frame[], type: number) => {
  const found = frames.find((one) => one.type === type)
  return found?.payload.readUInt32BE(type === frameType.goAway ? 4 : 0)
}

const endings: [string, Buffer[], number][] = [
  [
    'another protocol',
    [Buffer.from('GET / HTTP/1.1\r\nhost: somewhere\r\n\r\n')],
    errorCode.protocol,
  ],
  ['no settings first', [preface, frame(ping, 0, 0, Buffer.alloc(8))], errorCode.protocol],
]
const prelude = [preface, settingsFrame([])]
const broken: [string, Buffer[], number][] = [
  ['a stream of an even number', [frame(headers, whole, 2, get)], errorCode.protocol],
  [
    'a stream number again',
    [frame(headers, whole, 3, get), frame(headers, whole, 1, get)],
    errorCode.streamClosed,
  ],
  ['data of no stream', [frame(data, 0, 0, 'x')], errorCode.protocol],
  ['data of a stream to come', [frame(data, 0, 5, 'x')], errorCode.protocol],
  ['a reset of a stream to come', [frame(reset, 0, 5, word(8))], errorCode.protocol],
  ['a window of a stream to come', [frame(windowUpdate, 0, 5, word(8))], errorCode.protocol],
  ['a window that grows by nothing', [frame(windowUpdate, 0, 0, word(0))], errorCode.protocol],
  ['a window too large', [frame(windowUpdate, 0, 0, word(2 ** 31 - 1))], errorCode.flowControl],
  ['a ping of 7 bytes', [frame(ping, 0, 0, Buffer.alloc(7))], errorCode.frameSize],
  ['settings of 5 bytes', [frame(settings, 0, 0, Buffer.alloc(5))], errorCode.frameSize],
  ['settings of a stream', [frame(settings, 0, 1)], errorCode.protocol],
  ['a window setting too large', [settingsFrame([[4, 2 ** 31]])], errorCode.flowControl],
  ['a frame size too small', [settingsFrame([[5, 1]])], errorCode.protocol],
  ['a push', [frame(frameType.pushPromise, 0, 1)], errorCode.protocol],
  ['a frame too large', [frame(data, 0, 1, Buffer.alloc(16385))], errorCode.frameSize],
  [
    'a block that others interrupt',
    [frame(headers, 0, 1, get), frame(ping, 0, 0, Buffer.alloc(8))],
    errorCode.protocol,
  ],
  ['a continuation without headers', [frame(continuation, 4, 1, get)], errorCode.protocol],
  [
    'more padding than frame',
    [frame(headers, whole | flag.padded, 1, Buffer.from([9, 1]))],
    errorCode.protocol,
  ],
  [
    'a block without end',
    [frame(headers, 0, 1), ...Array(40).fill(frame(continuation, 0, 1))],
    errorCode.enhanceYourCalm,
  ],
  [
    'priority of itself',
    [frame(priority, 0, 1, Buffer.concat([word(1), Buffer.from([1])]))],
    errorCode.protocol,
  ],
  [
    'pings without end',
    Array(1100).fill(frame(ping, 0, 0, Buffer.alloc(8))),
    errorCode.enhanceYourCalm,
  ],
  [
    'requests taken back without end',
    Array.from({ length: 1100 }, (_, i) =>
      Buffer.concat([frame(headers, whole, 2 * i + 1, get), frame(reset, 0, 2 * i + 1, word(8))]),
    ),
    errorCode.enhanceYourCalm,
  ],
  ...(
    [
      [
        'by a window that grows by nothing',
        whole,
        get,
        (id) => frame(windowUpdate, 0, id, word(0)),
      ],
      ['by a window too large', whole, get, (id) => frame(windowUpdate, 0, id, word(2 ** 31 - 1))],
      ['by data after the end', whole, get, (id) => frame(data, 0, id, 'x')],
      ['by a priority of 4 bytes', whole, get, (id) => frame(priority, 0, id, word(0))],
      ['by headers that are not trailers', 4, post, (id) => frame(headers, 4, id, post)],
      ['by requests without a path', whole, Buffer.from('82', 'hex'), () => Buffer.alloc(0)],
    ] as [string, number, Buffer, (id: number) => Buffer][]
  ).map(([how, flags, head, spoil]): [string, Buffer[], number] => [
    `endless requests that the server must reset, ${how}`,
    Array.from({ length: 1100 }, (_, i) =>
      Buffer.concat([frame(headers, flags, 2 * i + 1, head), spoil(2 * i + 1)]),
    ),
    errorCode.enhanceYourCalm,
  ]),
]
for (const [name, frames, code] of [
  ...endings,
  ...broken.map(([name, frames, code]) => [name, [...prelude, ...frames], code] as const),
]) {
  test(`the connection ends: ${name}`, async () => {
    const client = new Client(Buffer.concat(frames as Buffer[]))
    assert.equal(codeOf(await client.frames(), frameType.goAway), code)
    assert.equal(client.socket.destroyed, true)
  })
}

const resets: [string, Buffer[], number][] = [
  ['no request', [frame(headers, whole, 1, Buffer.from('82', 'hex'))], errorCode.protocol],
  [
    'data after the end',
    [frame(headers, whole, 1, get), frame(data, 0, 1, 'x')],
    errorCode.streamClosed,
  ],
  [
    'second headers that are not trailers',
    [frame(headers, 4, 1, post), frame(headers, 4, 1, post)],
    errorCode.protocol,
  ],
  [
    'a window too large',
    [frame(headers, whole, 1, get), frame(windowUpdate, 0, 1, word(2 ** 31 - 1))],
    errorCode.flowControl,
  ],
  [
    'another length than declared',
    [
      frame(headers, 4, 1, Buffer.concat([post, Buffer.from('0f0d0135', 'hex')])),
      frame(data, 1, 1, 'x'),
    ],
    errorCode.protocol,
  ],
  [
    'more than the window',
    [frame(headers, 4, 1, post), ...Array(17).fill(frame(data, 0, 1, Buffer.alloc(16384)))],
    errorCode.flowControl,
  ],
]
for (const [name, frames, code] of resets) {
  test(`the stream ends and the connection continues: ${name}`, async () => {
    const client = new Client()
    client.send(...frames, frame(ping, 0, 0, Buffer.alloc(8)))
    const answered = await client.frames()
    assert.equal(codeOf(answered, reset), code)
    assert.ok(answered.some(({ type, flags }) => type === ping && flags === flag.ack))
  })
}

test('a request and its response, in any pieces', async () => {
  const bytes = Buffer.concat([...prelude, frame(headers, 4, 1, post), frame(data, 1, 1, 'body')])
  for (const size of [1, 7, 1000]) {
    const client = new Client(Buffer.alloc(0))
    for (let at = 0; at < bytes.length; at += size) client.send(bytes.subarray(at, at + size))
    const [wire] = client.wires as [Wire]
    assert.deepEqual([wire.method, wire.url], ['POST', '/'])
    assert.equal(String(await wire.readBody(100)), 'body')
    await client.frames()
    wire.answer(200, {}, Buffer.from('hello'))
    const [head, body] = (await client.frames()) as [Frame, Frame]
    assert.deepEqual([head.type, head.payload[0], body.flags], [headers, 0x88, flag.endStream])
    assert.equal(String(body.payload), 'hello')
  }
})

test('a response waits for the windows of stream and connection', async () => {
  const client = new Client(Buffer.concat([preface, settingsFrame([[4, 10]])]))
  client.send(frame(headers, whole, 1, get))
  await client.frames()
  ;(client.wires[0] as Wire).answer(200, {}, Buffer.from('0123456789abcdef'))
  const texts = async () =>
    (await client.frames())
      .filter(({ type }) => type === data)
      .map(({ payload, flags }) => `${payload}${flags === flag.endStream ? '.' : ''}`)
  assert.deepEqual(await texts(), ['0123456789'])
  client.send(settingsFrame([[4, 5]]))
  assert.deepEqual(await texts(), [])
  client.send(frame(windowUpdate, 0, 1, word(8)))
  assert.deepEqual(await texts(), ['abc'])
  client.send(frame(windowUpdate, 0, 1, word(100)))
  assert.deepEqual(await texts(), ['def.'])
})

test('a response is pending until the client has read all of it', async () => {
  const client = new Client(Buffer.concat([preface, settingsFrame([[4, 10]])]))
  client.send(frame(headers, whole, 1, get))
  const [wire] = client.wires as [Wire]
  let taken = false
  wire.onClose?.(() => {
    taken = true
  })
  assert.equal(wire.isWaiting, false)
  wire.answer(200, {}, Buffer.alloc(30))
  for (const expected of [true, true, false]) {
    await client.frames()
    assert.deepEqual([wire.isWaiting, taken], [expected, !expected])
    client.send(frame(windowUpdate, 0, 1, word(10)))
  }
})

test('a response that is broken off ends with INTERNAL_ERROR', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get))
  await client.frames()
  const sink = (client.wires[0] as Wire).stream(200, {})
  sink.write(Buffer.from('half'))
  sink.abort?.()
  sink.abort?.()
  const resets = (await client.frames()).filter(({ type }) => type === reset)
  assert.deepEqual(
    resets.map(({ payload }) => payload.readUInt32BE()),
    [errorCode.internal],
  )
})

test('a slow client delays only the writer of its response', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get))
  const sink = (client.wires[0] as Wire).stream(200, {})
  client.socket.open = false
  assert.equal(sink.write(Buffer.alloc(60_000)), true)
  await client.frames()
  assert.equal(sink.write(Buffer.alloc(200_000)), false)
  let drained = false
  const waiting = sink.drained().then(() => {
    drained = true
  })
  assert.deepEqual([await client.frames(), drained], [[], false])
  client.socket.open = true
  client.send(frame(windowUpdate, 0, 0, word(1 << 20)), frame(windowUpdate, 0, 1, word(1 << 20)))
  client.socket.emit('drain')
  await waiting
})

test('a reset stream gets no more bytes, and its waiting writer continues', async () => {
  const client = new Client()
  client.send(...[1, 3, 5].map((id) => frame(headers, whole, id, get)))
  const [one, other] = client.wires.slice(0, 2).map((wire) => wire.stream(200, {}))
  await client.frames()
  // A complete response, including its end.
  client.wires[2]?.answer(200, {}, Buffer.alloc(100_000))
  client.send(frame(reset, 0, 5, word(8)))
  assert.equal(one.write(Buffer.alloc(100_000, 1)), false)
  const waiting = one.drained()
  client.send(frame(reset, 0, 1, word(8)))
  await waiting
  assert.deepEqual([one.closed, other.closed], [true, false])
  assert.equal(one.write(Buffer.from('late')), true)
  other.write(Buffer.from('goes on'))
  const sent = (await client.frames()).filter(({ type }) => type === data)
  assert.deepEqual(
    sent.map(({ stream, payload }) => [stream, String(payload)]),
    [[3, 'goes on']],
  )
})

test('an idle connection is closed, a used one is not', async () => {
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    const client = new Client()
    mock.timers.tick(90_000)
    client.send(frame(headers, whole, 1, get))
    mock.timers.tick(90_000)
    const [wire] = client.wires
    wire?.answer(200, {}, Buffer.from('ok'))
    mock.timers.tick(90_000)
    client.send(frame(ping, 0, 0, Buffer.alloc(8)))
    assert.equal(codeOf(await client.frames(), frameType.goAway), undefined)
    mock.timers.tick(90_000)
    assert.equal(codeOf(await client.frames(), frameType.goAway), errorCode.none)
    assert.ok(client.socket.destroyed)
  } finally {
    mock.timers.reset()
  }
})

test('a client that sends everything at once is not taken for an idle one', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const hello = [preface, settingsFrame([]), settingsAckFrame]
    const client = new Client(Buffer.concat([...hello, frame(headers, whole, 1, get)]))
    mock.timers.tick(60_000)
    assert.equal(client.socket.destroyed, false)
  } finally {
    mock.timers.reset()
  }
})

test('a client that neither reads the last bytes nor closes is disconnected', () => {
  const rows: [string, (client: Client) => void][] = [
    ['the server stops', ({ connection }) => connection.close()],
    ['nonsense', (client) => client.send(frame(ping, 0, 1, Buffer.alloc(8)))],
  ]
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    for (const [why, end] of rows) {
      const client = new Client()
      const { socket } = client
      socket.open = false
      client.send(frame(ping, 0, 0, Buffer.alloc(8)))
      socket.end = () => {}
      socket.destroySoon = () => {}
      end(client)
      mock.timers.tick(29_999)
      assert.equal(socket.destroyed, false, why)
      mock.timers.tick(1)
      assert.equal(socket.destroyed, true, why)
    }
  } finally {
    mock.timers.reset()
  }
})

test('the response to a single request leaves at once, those of several leave together', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get))
  await client.frames()
  const answer = (at: number) => (client.wires[at] as Wire).answer(200, {}, Buffer.from(String(at)))
  const { socket } = client
  socket.writes = 0
  answer(0)
  assert.equal(socket.writes, 1)
  assert.equal((await client.frames()).length, 2)
  assert.equal(socket.writes, 1)
  client.send(...[3, 5, 7].map((id) => frame(headers, whole, id, get)))
  answer(1)
  answer(2)
  assert.equal(socket.writes, 1)
  answer(3)
  assert.equal(socket.writes, 2, 'the last takes the others along')
  assert.equal((await client.frames()).length, 6)
  assert.equal(socket.writes, 2)
})

test('of repeated window settings the last one is used', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get))
  const size = (value: number) => Buffer.concat([Buffer.from([0, 4]), word(value)])
  client.send(frame(settings, 0, 0, Buffer.concat([size(5), size(2 ** 31 - 1), size(0), size(7)])))
  await client.frames()
  const sink = (client.wires[0] as Wire).stream(200, {})
  sink.write(Buffer.alloc(100))
  await client.frames()
  client.send(frame(settings, 0, 0, Buffer.concat([size(100), size(9)])))
  const came = (await client.frames()).filter(({ type }) => type === data)
  assert.deepEqual(
    came.map(({ payload }) => payload.length),
    [2],
  )
})

test('streams share the connection fairly', async () => {
  const client = new Client(Buffer.concat([preface, settingsFrame([[4, 1 << 20]])]))
  client.send(frame(windowUpdate, 0, 0, word(1 << 20)))
  client.send(frame(headers, whole, 1, get), frame(headers, whole, 3, get))
  await client.frames()
  for (const wire of client.wires)
    wire.answerPieces(200, {}, [Buffer.alloc(90_000), Buffer.alloc(9)])
  const order = (await client.frames()).filter(({ type }) => type === data)
  const turns = order.map(({ stream }) => stream).filter((id, i, all) => id !== all[i - 1])
  assert.deepEqual(turns, [1, 3, 1, 3])
  assert.equal(
    order.reduce((sum, { payload }) => sum + payload.length, 0),
    2 * 90_009,
  )
})

test('after an early response the stream is reset, so that the client stops sending', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const client = new Client()
    client.send(frame(headers, 4, 1, post), frame(headers, 4, 3, post))
    await client.frames()
    for (const wire of client.wires) wire.answer(413, {}, Buffer.from('no'))
    const types = async () => (await client.frames()).map(({ type, stream }) => [type, stream])
    assert.deepEqual(await types(), [
      [headers, 1],
      [data, 1],
      [headers, 3],
      [data, 3],
    ])
    // One client ends its stream, the other continues.
    client.send(frame(data, 1, 3, 'rest'))
    mock.timers.tick(1000)
    const frames = await client.frames()
    assert.deepEqual([frames.length, frames[0]?.stream], [1, 1])
    assert.equal(codeOf(frames, reset), errorCode.none)
    // Frames that were sent before the reset are ignored.
    client.send(
      frame(data, 0, 1, 'more'),
      frame(headers, whole, 1, Buffer.from('0001610162', 'hex')),
    )
    assert.equal(client.socket.destroyed, false)
  } finally {
    mock.timers.reset()
  }
})

test('a reader that waits for a body learns of the disconnect', async () => {
  for (const leave of [
    (client: Client) => client.send(frame(reset, 0, 1, word(8))),
    (client: Client) => client.socket.end(),
    (client: Client) => client.send(frame(data, flag.endStream, 1, 'more than it said')),
  ]) {
    const client = new Client()
    const length = Buffer.from('\x0f\x0d\x012', 'latin1')
    client.send(frame(headers, 4, 1, Buffer.concat([post, length])))
    const [wire] = client.wires as [Wire]
    assert.equal(wire.headers['content-length'], '2')
    const body = wire.readBody(100)
    const { signal } = wire
    leave(client)
    await assert.rejects(async () => body, /went away/)
    assert.equal(signal.aborted, true)
  }
})

test('a body that ends with a disconnect is an error, not an empty body', async () => {
  for (const leave of [
    (client: Client) => client.send(frame(reset, 0, 1, word(8))),
    (client: Client) => client.socket.end(),
    (client: Client) => (client.wires[0] as Wire).answer(504, {}, undefined),
  ]) {
    const client = new Client()
    client.send(frame(headers, 4, 1, post), frame(data, flag.endStream, 1, '{"dryRun":["All"]}'))
    const [wire] = client.wires as [Wire]
    leave(client)
    await assert.rejects(async () => wire.readBody(100), /went away/)
    const error = new Promise((resolve) => wire.bodyStream?.()?.once('error', resolve))
    assert.match(String(await error), /went away/)
  }
})

test('a forwarded body may break off without a listener', async () => {
  const client = new Client()
  client.send(frame(headers, 4, 1, post), frame(data, 0, 1, 'half'))
  const [wire] = client.wires as [Wire]
  const before = wire.bodyStream?.()
  client.send(frame(reset, 0, 1, word(8)))
  const after = wire.bodyStream?.()
  await new Promise((resolve) => after?.once('close', resolve))
  for (const body of [before, after]) assert.match(String(body?.errored), /went away/)
})

test('padding is credited to the window with its data', async () => {
  const client = new Client()
  client.send(frame(headers, 4, 1, post))
  const body = (client.wires[0] as Wire).readBody(100_000)
  const padded = Buffer.alloc(1 + 16 + 255, 'x')
  padded[0] = 255
  let given = 0
  const count = 2000
  for (let i = 0; i < count; i++) client.send(frame(data, flag.padded, 1, padded))
  for (const { type, stream, payload } of await client.frames())
    if (type === windowUpdate && stream === 1) given += payload.readUInt32BE(0)
  // The rest is too short for a frame.
  assert.ok(given > count * padded.length - 262_144 / 2, `${given}`)
  client.send(frame(data, flag.endStream, 1))
  assert.equal(String(await body), 'x'.repeat(16 * count))
})

test('late frames of ended requests are ignored, up to the limit of concurrent requests', async () => {
  const streamsMax = 300
  const client = new Client(undefined, { streamsMax })
  const idOf = (nth: number) => 2 * nth + 1
  for (let i = 0; i < streamsMax; i++) client.send(frame(headers, 4, idOf(i), post))
  for (const wire of client.wires) wire.abort?.()
  await client.frames()
  const trailer = Buffer.from('\x00\x01a\x01b', 'latin1')
  for (let i = 0; i < streamsMax; i++)
    client.send(frame(data, 0, idOf(i), 'x'), frame(headers, whole, idOf(i), trailer))
  assert.deepEqual(await client.frames(), [])
})

test('a body that filled the window before it was read continues afterwards', async () => {
  const client = new Client()
  client.send(frame(headers, 4, 1, post))
  const window = frame(data, 0, 1, Buffer.alloc(16_384, 'x'))
  client.send(...Array(16).fill(window))
  const given = async () =>
    (await client.frames()).some(({ type, stream }) => type === windowUpdate && stream === 1)
  assert.equal(await given(), false, 'nobody has asked for it')
  const body = (client.wires[0] as Wire).readBody(1_000_000)
  assert.equal(await given(), true)
  client.send(frame(data, flag.endStream, 1, 'end'))
  assert.equal((await body).length, 16 * 16_384 + 3)
})

test('an unread body is dropped once the response has begun', async () => {
  const client = new Client()
  client.send(frame(headers, 4, 1, post), frame(data, 0, 1, 'before'))
  const [wire] = client.wires as [Wire]
  wire.stream(200, {})
  client.send(frame(data, 0, 1, 'meanwhile'), frame(data, flag.endStream, 1))
  assert.equal(String(await wire.readBody(100)), '')
})

test('a body in pieces of one byte is stored compactly', async () => {
  const client = new Client()
  client.send(frame(headers, 4, 1, post))
  const text = 'abcdefgh'.repeat(5000)
  const body = (client.wires[0] as Wire).readBody(100_000)
  for (const letter of text) client.send(frame(data, 0, 1, letter))
  client.send(frame(data, flag.endStream, 1))
  assert.equal(String(await body), text)
})

test('a response to HEAD has only a head', async () => {
  const client = new Client()
  const head = Buffer.concat([Buffer.from('8784', 'hex'), Buffer.from('\x02\x04HEAD', 'latin1')])
  client.send(frame(headers, whole, 1, head))
  await client.frames()
  const [wire] = client.wires as [Wire]
  assert.equal(wire.method, 'HEAD')
  const sink = wire.stream(200, {})
  sink.write(Buffer.from('{}'))
  sink.end()
  const frames = await client.frames()
  assert.deepEqual(
    frames.map(({ type, flags }) => [type, flags]),
    [[headers, whole]],
  )
})

test('a body stream is received no faster than it is read', async () => {
  const client = new Client()
  client.send(frame(headers, 4, 1, post))
  const body = (client.wires[0] as Wire).bodyStream?.()
  const chunk = frame(data, 0, 1, Buffer.alloc(16384))
  client.send(...Array(16).fill(chunk))
  const granted = async () =>
    (await client.frames()).some(({ type, stream }) => type === windowUpdate && stream === 1)
  assert.equal(await granted(), false)
  body?.resume()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await granted(), true)
})

test('when the server stops, running requests are answered and the connection closes', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get))
  client.connection.close()
  client.send(frame(headers, whole, 3, get))
  assert.equal(client.wires.length, 1)
  assert.equal(codeOf(await client.frames(), frameType.goAway), errorCode.none)
  ;(client.wires[0] as Wire).answer(200, {}, undefined)
  assert.equal(client.socket.destroyed, true)
  assert.ok((await client.frames()).some(({ type }) => type === headers))
})

test('a request that crosses GOAWAY is refused, and running requests continue', async () => {
  const rows: [string, Buffer[]][] = [
    ['its body', [frame(data, 0, 3, 'x'.repeat(1000)), frame(data, flag.endStream, 3, 'x')]],
    ['its end', [frame(reset, 0, 3, word(8))]],
    ['its window', [frame(windowUpdate, 0, 3, word(1000))]],
  ]
  for (const [what, frames] of rows) {
    const client = new Client()
    client.send(frame(headers, 4, 1, post))
    client.connection.close()
    await client.frames()
    client.send(frame(headers, 4, 3, post), ...frames)
    assert.equal(client.wires.length, 1)
    client.send(frame(data, flag.endStream, 1, 'body'))
    const [wire] = client.wires as [Wire]
    assert.equal(String(await wire.readBody(10)), 'body', what)
    wire.answer(200, {}, undefined)
    assert.deepEqual(
      (await client.frames()).map(({ type, stream }) => [type, stream]),
      [[headers, 1]],
    )
  }
})

test('GOAWAY reaches a slow client', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get))
  await client.frames()
  client.socket.open = false
  ;(client.wires[0] as Wire).answer(200, {}, Buffer.from('answer'))
  await client.frames()
  client.connection.close()
  assert.equal(client.socket.destroyed, false)
  client.socket.open = true
  client.socket.emit('drain')
  assert.equal(codeOf(await client.frames(), frameType.goAway), errorCode.none)
  assert.equal(client.socket.destroyed, true)
})

test('running responses are sent completely before the connection closes', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get), frame(headers, whole, 3, get))
  await client.frames()
  const sinks = client.wires.map((wire) => wire.stream(200, {}))
  for (const sink of sinks) sink.write(Buffer.from('event'))
  await client.frames()
  client.connection.close()
  for (const sink of sinks) {
    sink.write(Buffer.from('last'))
    sink.end()
  }
  const bodies = (await client.frames()).filter(({ type }) => type === data)
  assert.deepEqual(
    bodies.map(({ stream, flags, payload }) => [stream, flags, String(payload)]),
    [
      [1, flag.endStream, 'last'],
      [3, flag.endStream, 'last'],
    ],
  )
  assert.equal(client.socket.destroyed, true)
})

test('a body over the limit is rejected and not stored', async () => {
  const client = new Client()
  client.send(frame(headers, 4, 1, post))
  const body = (client.wires[0] as Wire).readBody(3)
  client.send(frame(data, 0, 1, '1234'))
  await assert.rejects(async () => body, /too large/)
  // Even if it came before the first read.
  for (const ended of [0, flag.endStream]) {
    const early = new Client()
    early.send(frame(headers, 4, 1, post), frame(data, ended, 1, '1234'))
    await assert.rejects(async () => (early.wires[0] as Wire).readBody(3), /too large/)
  }
})

for (const [given, reported] of [
  [{}, 250],
  [{ streamsMax: 3 }, 3],
] as const)
  test(`${reported} requests at once are announced, taken, and not one more`, async () => {
    const client = new Client(undefined, given)
    const first = (await client.frames()).find(({ type }) => type === settings) as Frame
    assert.equal(first.payload.readUInt16BE(0), setting.concurrentStreamsMax)
    assert.equal(first.payload.readUInt32BE(2), reported)
    for (let i = 0; i <= reported; i++) client.send(frame(headers, whole, 2 * i + 1, get))
    assert.equal(client.wires.length, reported)
    assert.equal(codeOf(await client.frames(), reset), errorCode.refusedStream)
  })

test('a connection that got GOAWAY closes after its running requests', async () => {
  const client = new Client()
  client.send(frame(headers, whole, 1, get), frame(headers, whole, 3, get))
  await client.frames()
  const [one, two] = client.wires as [Wire, Wire]
  one.goAway?.()
  one.answer(200, {}, undefined)
  const stated = await client.frames()
  assert.deepEqual(
    stated.map(({ type, stream }) => [type, stream]),
    [
      [frameType.goAway, 0],
      [headers, 1],
    ],
  )
  assert.equal(stated[0]?.payload.readUInt32BE(0), 3)
  client.send(frame(headers, whole, 5, get))
  assert.equal(client.wires.length, 2)
  assert.equal(client.socket.destroyed, false)
  two.answer(200, {}, undefined)
  await client.frames()
  assert.equal(client.socket.destroyed, true)
})
