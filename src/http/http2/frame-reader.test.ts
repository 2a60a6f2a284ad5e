import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader, unpadded } from './frame-reader.ts'
import { ConnectionError, errorCode, flag, payloadBytesMax, preface } from './frames.ts'

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The frames that the reader passes on for each piece of the connection's bytes. */
function readAll(pieces: Buffer[]): string[] {
  const taken: string[] = []
  const reader = new FrameReader((type, flags, stream, payload) =>
    taken.push(`${type} ${flags} ${stream} ${payload}`),
  )
  for (const piece of pieces) reader.read(piece)
  return taken
}

const frames = [
  frame(4, 0, 0, Buffer.alloc(0)),
  frame(1, 5, 1, Buffer.from('head')),
  frame(0, 1, 1, Buffer.from('body')),
]
const stated = ['4 0 0 ', '1 5 1 head', '0 1 1 body']
const whole = Buffer.concat([preface, ...frames])

test('frames are the same, however the bytes are split', () => {
  assert.deepEqual(readAll([whole]), stated)
  assert.deepEqual(readAll([...whole].map((byte) => Buffer.from([byte]))), stated)
  for (let cut = 0; cut <= whole.length; cut++) {
    assert.deepEqual(
      readAll([whole.subarray(0, cut), whole.subarray(cut)]),
      stated,
      `cut at ${cut}`,
    )
  }
})

test('a frame is passed on as soon as it is complete', () => {
  const short = whole.subarray(0, whole.length - 1)
  assert.deepEqual(readAll([short]), stated.slice(0, 2))
  assert.deepEqual(readAll([preface.subarray(0, 23)]), [])
  assert.deepEqual(readAll([preface]), [])
})

test('the first bit of a stream identifier is reserved', () => {
  assert.deepEqual(readAll([preface, frame(0, 0, 0x80000003, Buffer.from('x'))]), ['0 0 3 x'])
})

const codeOf = (work: () => unknown): number | undefined => {
  try {
    work()
  } catch (error) {
    if (error instanceof ConnectionError) return error.code
    throw error
  }
  return undefined
}

const wrong = Buffer.from(preface)
wrong[23] = 0
const refused: [name: string, pieces: Buffer[], code: number | undefined][] = [
  ['another protocol', [Buffer.from('GET / HTTP/1.1\r\n')], errorCode.protocol],
  ['its first byte', [Buffer.from('G')], errorCode.protocol],
  ['a preface wrong at its end', [wrong], errorCode.protocol],
  ['the same in two pieces', [wrong.subarray(0, 10), wrong.subarray(10)], errorCode.protocol],
  ['the largest frame', [preface, frame(0, 0, 1, Buffer.alloc(payloadBytesMax))], undefined],
  [
    'the head of a larger one',
    [preface, frame(0, 0, 1, Buffer.alloc(payloadBytesMax + 1)).subarray(0, 9)],
    errorCode.frameSize,
  ],
]
for (const [name, pieces, code] of refused) {
  test(`${name}: ${code === undefined ? 'taken' : 'refused'}`, () => {
    assert.equal(
      codeOf(() => readAll(pieces)),
      code,
    )
  })
}

const paddings: [name: string, flags: number, payload: string, carried: string | number][] = [
  ['no padding', 0, '\x02abc', '\x02abc'],
  ['padding of no bytes', flag.padded, '\x00abc', 'abc'],
  ['some padding', flag.padded, '\x02abc..', 'abc'],
  ['nothing but padding', flag.padded, '\x03...', ''],
  ['more than there is', flag.padded, '\x04...', errorCode.protocol],
  ['no length', flag.padded, '', errorCode.protocol],
]
for (const [name, flags, payload, carried] of paddings) {
  test(`${name} is ${typeof carried === 'number' ? 'refused' : 'taken off'}`, () => {
    const work = () => unpadded(flags, Buffer.from(payload, 'latin1'))
    if (typeof carried === 'number') assert.equal(codeOf(work), carried)
    else assert.equal(work().toString('latin1'), carried)
  })
}
