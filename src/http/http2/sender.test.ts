/**
 * Random clients (with seeds) against one sender: they receive what was queued, and never more than
 * their windows allow.
 */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import test, { type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { seeded } from '#base/seeded.ts'
import { flag, frameHeadBytes, frameType, windowBytesInitial } from './frames.ts'
import { type Outgoing, Sender } from './sender.ts'

/**
 * Consumes bytes only when it is read, like a socket, so written buffers must not change until
 * then.
 */
class SlowSocket extends EventEmitter {
  destroyed = false
  readonly #waiting: { bytes: Buffer; done: (() => void) | undefined }[] = []
  #waitingBytes = 0
  #isFull = false
  /** Written and not yet read. */
  received: Buffer[] = []

  write(bytes: Buffer, done?: () => void): boolean {
    this.#waiting.push({ bytes, done })
    this.#waitingBytes += bytes.length
    this.#isFull = this.#waitingBytes > 16_384
    return !this.#isFull
  }

  destroy(): void {
    this.destroyed = true
  }

  read(): void {
    for (const { bytes, done } of this.#waiting.splice(0)) {
      this.received.push(Buffer.from(bytes))
      done?.()
    }
    this.#waitingBytes = 0
    if (!this.#isFull) return
    this.#isFull = false
    this.emit('drain')
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }
}

class Stream implements Outgoing {
  readonly id: number
  window: number
  readonly pieces: Buffer[] = []
  firstPieceSentBytes = 0
  queuedBytes = 0
  isQueued = false
  heldChecks = 0
  ended = false
  /** Streams that either side has reset. */
  gone = false
  hasEnded = false
  /** All bytes that were ever queued, and those that arrived. */
  readonly wanted: Buffer[] = []
  readonly came: Buffer[] = []
  sentNotifications = 0

  constructor(id: number, window: number) {
    this.id = id
    this.window = window
  }

  queue(bytes: Buffer): void {
    this.wanted.push(bytes)
    if (bytes.length === 0) return
    this.pieces.push(bytes)
    this.queuedBytes += bytes.length
  }

  sent(): void {
    this.sentNotifications++
    const left = this.pieces.reduce((sum, { length }) => sum + length, 0) - this.firstPieceSentBytes
    assert.equal(left, this.queuedBytes, 'bytes are counted as they lie')
  }
}

/** One connection, with the actions of its client and the received frames. */
class Play {
  readonly socket = new SlowSocket()
  readonly sender = new Sender(this.socket as unknown as TLSSocket)
  readonly streams: Stream[] = []
  readonly chance: (below: number) => number
  /** The windows that the client allows: for the connection and for a new stream. */
  window = windowBytesInitial
  streamWindow = windowBytesInitial
  readonly allowed = new Map<Stream, number>()
  /** Received DATA frames: the stream and the number of bytes. */
  readonly heard: number[][] = []
  #nextByte = 0

  constructor(seed: number) {
    this.chance = seeded(seed)
  }

  open(): Stream {
    const stream = new Stream(this.streams.length * 2 + 1, this.streamWindow)
    this.streams.push(stream)
    this.allowed.set(stream, this.streamWindow)
    return stream
  }

  widen(stream: Stream, bytes: number): void {
    this.allowed.set(stream, (this.allowed.get(stream) as number) + bytes)
    stream.window += bytes
    if (stream.queuedBytes > 0 && stream.window > 0) this.sender.send(stream)
  }

  /** Bytes with a recognisable order: tiny, of usual size, or a very large object. */
  bytes(): Buffer {
    const { chance } = this
    const size = [0, 1 + chance(9), chance(3000), chance(40_000), chance(400_000)][
      chance(5)
    ] as number
    const bytes = Buffer.alloc(size)
    for (let at = 0; at < size; at += 97) bytes[at] = this.#nextByte++
    return bytes
  }

  step(): void {
    const { chance, streams, sender } = this
    const live = streams.filter(({ gone, hasEnded }) => !gone && !hasEnded)
    const stream = live[chance(Math.max(1, live.length))]
    const what = chance(12)
    if (what === 0 && live.length < 8) this.open()
    else if (stream === undefined) return
    else if (what <= 4 && !stream.ended) {
      // Many single frames, like events of a watch.
      for (let i = chance(60); i >= 0; i--) stream.queue(this.bytes())
      sender.send(stream)
    } else if (what === 5) this.widen(stream, 1 + chance(100_000))
    else if (what === 6) {
      const bytes = 1 + chance(300_000)
      this.window += bytes
      assert.ok(sender.grow(bytes))
    } else if (what === 7) {
      // The client changes the initial window, possibly to less than the bytes in flight.
      const change = [1, 1000, 65_535, 400_000][chance(4)] - this.streamWindow
      this.streamWindow += change
      for (const one of live) this.widen(one, change)
    } else if (what === 8 && chance(4) === 0) {
      stream.gone = true
      sender.forget(stream)
    } else if (what === 9 && chance(3) === 0 && !stream.ended) {
      stream.ended = true
      sender.send(stream)
    } else if (what === 10) sender.frame(Buffer.from([0, 0, 0, 6, 1, 0, 0, 0, 0]))
    else this.socket.read()
  }

  /** Checks each received frame against the windows at the time of its write. */
  hear(): void {
    // Every write consists of complete frames.
    const all = Buffer.concat(this.socket.received.splice(0))
    for (let at = 0; at < all.length; ) {
      const size = all.readUIntBE(at, 3)
      const end = at + frameHeadBytes + size
      assert.ok(size <= 16_384 && end <= all.length, 'whole frames')
      if (all[at + 3] === frameType.data) this.#hearData(all.subarray(at, end))
      at = end
    }
  }

  #hearData(frame: Buffer): void {
    const id = frame.readUInt32BE(5)
    const stream = this.streams[(id - 1) / 2] as Stream
    const payload = frame.subarray(frameHeadBytes)
    assert.ok(!stream.hasEnded, `${id}: nothing comes after the end`)
    stream.came.push(payload)
    this.heard.push([id, payload.length])
    this.window -= payload.length
    assert.ok(this.window >= 0, 'the connection takes no more')
    this.allowed.set(stream, (this.allowed.get(stream) as number) - payload.length)
    // The sender's window equals the client's, minus the bytes in flight.
    assert.ok(stream.window <= (this.allowed.get(stream) as number), `${id} is counted`)
    if (((frame[4] as number) & flag.endStream) !== 0) stream.hasEnded = true
  }

  /** The client reads all available bytes. */
  async finish(): Promise<void> {
    for (let round = 0; round < 2000; round++) {
      this.socket.read()
      await new Promise((resolve) => setImmediate(resolve))
      this.hear()
      const waiting = this.streams.filter(({ gone, queuedBytes }) => !gone && queuedBytes > 0)
      if (waiting.length === 0 && this.socket.waitingBytes === 0) return
      for (const stream of waiting) this.widen(stream, 1 << 20)
      this.window += 1 << 20
      this.sender.grow(1 << 20)
    }
    assert.fail('something waits for ever')
  }
}

for (let seed = 1; seed <= 12; seed++) {
  test(`clients of seed ${seed} get what was queued, in its order and within their windows`, async () => {
    const play = new Play(seed)
    play.open()
    for (let i = 0; i < 150; i++) {
      play.step()
      if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
      play.hear()
    }
    await play.finish()
    for (const stream of play.streams) {
      const came = Buffer.concat(stream.came)
      const wanted = Buffer.concat(stream.wanted)
      assert.ok(came.equals(wanted.subarray(0, came.length)), `${stream.id}: in its order`)
      if (stream.gone) continue
      assert.equal(came.length, wanted.length, `${stream.id}: all of it`)
      assert.equal(stream.hasEnded, stream.ended, `${stream.id}: and its end`)
    }
  })
}

/** Advances the time; timers that are set meanwhile fire too. */
const pass = (t: TestContext, ms: number) => {
  for (let i = 0; i < ms; i++) t.mock.timers.tick(1)
}

test('a window of any size is filled to its last byte and never exceeded', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const window of [0, 1, 8, 9, 100, 16_375, 16_376, 70_000]) {
    const play = new Play(1)
    play.streamWindow = window
    const stream = play.open()
    for (let i = 0; i < 5000; i++) stream.queue(Buffer.alloc(20, i))
    play.sender.send(stream)
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      play.socket.read()
      pass(t, 60)
    }
    play.hear()
    const came = () => stream.came.reduce((sum, { length }) => sum + length, 0)
    assert.equal(came(), Math.min(window, windowBytesInitial), `a window of ${window}`)
    // The window becomes negative while bytes wait, and finally allows one byte.
    play.widen(stream, -10)
    await new Promise((resolve) => setImmediate(resolve))
    play.widen(stream, 11)
    play.window += 1
    play.sender.grow(1)
    await new Promise((resolve) => setImmediate(resolve))
    pass(t, 60)
    play.socket.read()
    play.hear()
    assert.equal(came(), Math.min(window, windowBytesInitial) + 1, `a window of ${window}, and one`)
  }
})

const record = 16_375

/** The frames that a client with small windows gets after each action: `[stream, bytes]`. */
const behind: Record<string, { do: (client: Behind) => void; gets: number[][] }[]> = {
  'short frames leave at once where there is room for them': [
    {
      do: (c) => c.queue([9000, 9000]),
      gets: [
        [1, 9000],
        [3, 9000],
      ],
    },
    {
      do: (c) => c.queue([9000, 9000, 9000]),
      gets: [
        [1, 9000],
        [3, 9000],
        [5, 9000],
      ],
    },
    // Less than half a window is left, and they fit.
    {
      do: (c) => c.queue([9000, 9000]),
      gets: [
        [1, 9000],
        [3, 9000],
      ],
    },
  ],
  'a client that is behind gets whole records, and short ones when it has read': [
    {
      do: (c) => c.queue([40_000]),
      gets: [
        [1, record],
        [1, record],
        [1, 7250],
      ],
    },
    // Then 9,160 bytes of window are left: enough for some of the rest, not for all.
    { do: (c) => c.queue([15_000, 20_000, 15_000]), gets: [[3, record]] },
    { do: (c) => c.queue([0, 20_000]), gets: [] },
    { do: (c) => c.read(20_000), gets: [[3, record]] },
    {
      do: (c) => c.read(20_000),
      gets: [
        [1, 15_000],
        [5, 15_000],
        [3, 2785],
      ],
    },
  ],
  'one that does not say what it has read gets short frames after a while, those that wait longest first':
    [
      {
        do: (c) => c.queue([50_000]),
        gets: [
          [1, record],
          [1, record],
          [1, record],
          [1, 875],
        ],
      },
      { do: (c) => c.queue([30_000, 9000, 9000]), gets: [] },
      { do: (c) => c.pass(19), gets: [] },
      { do: (c) => c.pass(1), gets: [[1, 15_535]] },
      {
        do: (c) => c.read(10_000),
        gets: [
          [3, 9000],
          [5, 1000],
        ],
      },
      { do: (c) => c.pass(20), gets: [] },
      {
        do: (c) => c.read(9000),
        gets: [
          [5, 8000],
          [1, 1000],
        ],
      },
    ],
  'one that reads record by record beside an endless body gets short frames after a while, and whole':
    [
      {
        do: (c) => c.queue([200_000]),
        gets: [
          [1, record],
          [1, record],
          [1, record],
          [1, record],
        ],
      },
      { do: (c) => c.queue([0, 3400]), gets: [] },
      { do: (c) => c.read(record), gets: [[1, record]] },
      { do: (c) => c.pass(20), gets: [[3, 35]] },
      { do: (c) => c.read(record), gets: [[3, 3365]] },
      { do: (c) => c.read(record), gets: [[1, record]] },
      // An unused window is used after a while.
      { do: (c) => c.pass(20), gets: [[1, record - 3365]] },
    ],
  'one that leaves no room at all gets short frames after a while too': [
    {
      do: (c) => c.queue([4 * record + 35 + 100_000]),
      gets: [
        [1, record],
        [1, record],
        [1, record],
        [1, record],
      ],
    },
    { do: (c) => c.pass(59), gets: [] },
    { do: (c) => c.pass(1), gets: [[1, 35]] },
    { do: (c) => c.queue([0, 3400]), gets: [] },
    { do: (c) => c.read(record), gets: [[1, record]] },
    { do: (c) => c.pass(20), gets: [] },
    // The end needs no window, so it is sent although other data waits.
    { do: (c) => c.queue([0, 0, 0], 5), gets: [[5, 0]] },
    { do: (c) => c.read(record), gets: [[3, 3400]] },
  ],
  'the end of an answer is not held back': [
    {
      do: (c) => c.queue([50_000, 9000]),
      gets: [
        [1, record],
        [1, record],
        [1, record],
        [3, 9000],
        [1, 875],
      ],
    },
    { do: (c) => c.queue([9000]), gets: [] },
    { do: (c) => c.queue([0, 0, 5000], 5), gets: [[5, 5000]] },
  ],
}

class Behind {
  readonly play = new Play(1)
  readonly #passed: (ms: number) => void

  constructor(passed: (ms: number) => void) {
    this.#passed = passed
    for (let i = 0; i < 3; i++) this.play.open()
  }

  /** The number of bytes for each stream, one of which they end. */
  queue(sizes: number[], ending?: number): void {
    for (const [at, size] of sizes.entries()) {
      const stream = this.play.streams[at] as Stream
      if (size === 0 && stream.id !== ending) continue
      stream.queue(Buffer.alloc(size))
      stream.ended = stream.id === ending
      this.play.sender.send(stream)
    }
  }

  read(bytes: number): void {
    this.play.window += bytes
    this.play.sender.grow(bytes)
    for (const stream of this.play.streams) this.play.widen(stream, bytes)
  }

  pass(ms: number): void {
    this.#passed(ms)
  }

  async gets(): Promise<number[][]> {
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      this.play.socket.read()
    }
    this.play.hear()
    assert.ok(this.play.streams.every(({ queuedBytes }) => queuedBytes >= 0))
    return this.play.heard.splice(0)
  }
}

for (const [name, steps] of Object.entries(behind)) {
  test(name, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const client = new Behind((ms) => pass(t, ms))
    for (const [at, step] of steps.entries()) {
      step.do(client)
      assert.deepEqual(await client.gets(), step.gets, `step ${at}`)
    }
  })
}

test('a client that does not read keeps its queued bytes, and gets no more turns than others', async () => {
  const play = new Play(1)
  play.window += 1 << 30
  play.sender.grow(1 << 30)
  const [shut, open] = [play.open(), play.open()]
  play.widen(shut, -windowBytesInitial)
  play.widen(open, 1 << 30)
  for (let i = 0; i < 3000; i++) {
    for (const stream of [shut, open]) {
      stream.queue(Buffer.alloc(200, i))
      play.sender.send(stream)
    }
    if (i % 50 === 0) {
      await new Promise((resolve) => setImmediate(resolve))
      play.socket.read()
    }
  }
  for (let i = 0; i < 10; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    play.socket.read()
  }
  play.hear()
  assert.equal(Buffer.concat(open.came).length, 3000 * 200)
  assert.deepEqual([shut.sentNotifications, shut.queuedBytes], [0, 3000 * 200])
  await play.finish()
  assert.equal(Buffer.concat(shut.came).length, 3000 * 200)
})

test('a client that causes control frames and reads nothing is disconnected', async () => {
  const play = new Play(1)
  const answer = Buffer.alloc(20_000)
  for (let i = 0; i < 50; i++) {
    play.sender.frame(answer)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(play.socket.destroyed, false)
  for (let i = 0; i < 10; i++) play.sender.frame(answer)
  assert.equal(play.socket.destroyed, true)
})

test('unread bytes of one connection are not overwritten by writes to another', async () => {
  const plays = [1, 2, 3].map((mark) => {
    const play = new Play(mark)
    const stream = play.open()
    for (let i = 0; i < 30; i++) stream.queue(Buffer.alloc(2000, mark))
    play.sender.send(stream)
    return play
  })
  await new Promise((resolve) => setImmediate(resolve))
  for (const [at, play] of plays.entries()) {
    play.socket.read()
    play.hear()
    const came = Buffer.concat((play.streams[0] as Stream).came)
    assert.ok(came.equals(Buffer.alloc(60_000, at + 1)), `connection ${at + 1}`)
  }
})
