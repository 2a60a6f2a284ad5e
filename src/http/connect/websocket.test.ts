import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { Duplex } from 'node:stream'
import type { Exchange } from '#http/exchange.ts'
import { openWebSocket } from './websocket.ts'
import { closeFrame, frame, FrameReader, opcodes } from './websocket-frames.ts'

/** A frame as a client sends it, with a mask. */
function masked(opcode: number, body: Buffer): Buffer {
  const plain = frame(opcode, body)
  const at = plain.length - body.length
  const head = Buffer.from(plain.subarray(0, at))
  head[1] |= 0x80
  const mask = randomBytes(4)
  return Buffer.concat([head, mask, Buffer.from(body.map((byte, i) => byte ^ mask[i % 4]))])
}

const long = (length: number) => Buffer.alloc(length, 'a')

// case, bytes of the client, received messages
const clients: [string, Buffer[], string[]][] = [
  ['nothing', [], []],
  ['a message', [masked(opcodes.text, long(5))], []],
  ['a close', [masked(opcodes.close, Buffer.from([3, 0xe8]))], ['close 1000']],
  ['a ping', [masked(opcodes.ping, Buffer.from('are you there'))], ['ping are you there']],
  [
    'messages of every length, then a ping',
    [
      masked(opcodes.text, long(125)),
      masked(opcodes.binary, long(126)),
      masked(opcodes.binary, long(65_535)),
      masked(opcodes.text, long(65_536)),
      masked(opcodes.ping, Buffer.from('x')),
    ],
    ['ping x'],
  ],
  ['what is not masked', [frame(opcodes.text, long(3))], ['close 1002']],
  ['a ping that is too long', [masked(opcodes.ping, long(126))], ['close 1002']],
  [
    'more after a close',
    [masked(opcodes.close, Buffer.alloc(0)), masked(opcodes.ping, long(1))],
    ['close 1000'],
  ],
]
for (const [what, sent, wanted] of clients) {
  test(`a client that sends ${what} is parsed, in one piece and in many`, () => {
    for (const pieceLength of [1_000_000, 7, 1]) {
      const heard: string[] = []
      const reader = new FrameReader({
        ping: (bytes) => heard.push(`ping ${bytes}`),
        close: (status) => heard.push(`close ${status}`),
      })
      const bytes = Buffer.concat(sent)
      for (let at = 0; at < bytes.length; at += pieceLength)
        reader.take(bytes.subarray(at, at + pieceLength))
      assert.deepEqual(heard, wanted, `pieces of ${pieceLength}`)
    }
  })
}

// length, head
const heads: [number, number[]][] = [
  [0, [0x81, 0]],
  [125, [0x81, 125]],
  [126, [0x81, 126, 0, 126]],
  [65_535, [0x81, 126, 255, 255]],
  [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
]
for (const [length, head] of heads) {
  test(`a message of ${length} bytes has this head`, () => {
    const made = frame(opcodes.text, long(length))
    assert.deepEqual([...made.subarray(0, head.length)], head)
    assert.equal(made.length, head.length + length)
  })
}

test('a close frame contains the reason', () => {
  assert.deepEqual([...closeFrame(1000)], [0x88, 2, 3, 0xe8])
})

test('a writer waits for a slow client until the client reads or disconnects', async () => {
  // Accepts the first write, and no other.
  const socket = new Duplex({ read() {}, write() {}, writableHighWaterMark: 4096 })
  const headers = { 'sec-websocket-key': 'a', 'sec-websocket-version': '13' }
  const wire = { headers, upgrade: { socket, head: Buffer.alloc(0) } }
  const opened = openWebSocket({ wire } as unknown as Exchange, () => '')
  const { sink } = opened as NonNullable<typeof opened>
  assert.equal(sink.write(frame(opcodes.text, Buffer.alloc(100))), true)
  assert.equal(sink.write(frame(opcodes.text, Buffer.alloc(10_000))), false)
  let closed = false
  sink.onClose?.(() => {
    closed = true
  })
  const waiting = sink.drained()
  socket.destroy()
  await waiting
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([sink.closed, closed], [true, true])
})

test('a client that sends pings and reads no pongs gets no more of them', async () => {
  const socket = new Duplex({ read() {}, write() {} })
  const headers = { 'sec-websocket-key': 'a', 'sec-websocket-version': '13' }
  const wire = { headers, upgrade: { socket, head: Buffer.alloc(0) } }
  openWebSocket({ wire } as unknown as Exchange, () => '')
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => masked(opcodes.ping, long(125))))
  for (let i = 0; i < 20; i++) socket.push(pings)
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(socket.writableLength > 10_000, 'some are told')
  assert.ok(socket.writableLength < 100_000, `${socket.writableLength} bytes wait`)
  socket.destroy()
})
