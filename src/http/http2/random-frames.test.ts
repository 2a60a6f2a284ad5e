/**
 * Random frames from a client: most sequences are nearly valid. A connection goes on or ends with
 * GOAWAY. It never throws, and every frame that it writes is complete. BINNACLE_SEED repeats one
 * sequence.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '#base/seeded.ts'
import { Client, frame } from './client.fixture.ts'
import { flag, frameType, preface, settingsFrame } from './frames.ts'
import { queuedBytesMax, streamsMaxUsual } from './limits.ts'

const sequences = 400
const framesPerSequence = 40

/** Header blocks: GET and POST of /, an index outside the table, a huge table, an open string. */
const blocks = ['828784', '838784', 'ff80', '3fe1ff03', '0085', '', '82878440016101']
const types = [...Object.values(frameType), 0x0b, 0xff]
const flags = [0, flag.endStream, flag.endHeaders, flag.endStream | flag.endHeaders, 0xff]
const lengths = [0, 1, 4, 5, 6, 8, 9, 100, 16_384, 16_385]

function randomFrame(pick: <T>(from: readonly T[]) => T, below: (n: number) => number): Buffer {
  const stream = pick([0, 1, 1, 3, 5, 7, 9, 2, 2 ** 31 - 1])
  if (below(3) === 0) {
    const block = Buffer.from(pick(blocks), 'hex')
    return frame(frameType.headers, pick(flags), 1 + 2 * below(30), block)
  }
  const payload = Buffer.alloc(pick(lengths), below(256))
  return frame(pick(types), pick(flags), stream, payload)
}

async function run(seed: number): Promise<void> {
  const below = seeded(seed)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
  const hello = below(10) === 0 ? [] : [preface, settingsFrame([])]
  const client = new Client(Buffer.concat(hello))
  for (let i = 0; i < framesPerSequence && !client.socket.destroyed; i++) {
    const bytes = randomFrame(pick, below)
    const cut = below(bytes.length + 1)
    client.send(bytes.subarray(0, cut))
    if (!client.socket.destroyed) client.send(bytes.subarray(cut))
    const wire = client.wires.at(-1)
    if (wire !== undefined && below(4) === 0) wire.answer(200, {}, Buffer.alloc(below(300)))
    assert.ok(client.wires.length <= streamsMaxUsual)
  }
  const written = await client.frames()
  const bytes = written.reduce((sum, { payload }) => sum + payload.length, 0)
  assert.ok(bytes <= framesPerSequence * queuedBytesMax)
  if (client.socket.destroyed) assert.ok(written.some(({ type }) => type === frameType.goAway))
  client.socket.destroy()
}

test(`${sequences} random sequences of frames`, async () => {
  const seeds = process.env['BINNACLE_SEED']?.split(',').map(Number) ?? [...Array(sequences).keys()]
  for (const seed of seeds)
    await run(seed).catch((error) => assert.fail(`BINNACLE_SEED=${seed}: ${error.stack}`))
})
