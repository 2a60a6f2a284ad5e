/** Bodies in pieces yield the same bytes, in few buffers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyPieces } from './body-pieces.ts'

const rows: [what: string, sizes: number[], kept: number][] = [
  ['nothing', [], 0],
  ['one piece', [500], 1],
  ['one large piece', [50_000], 1],
  ['a thousand of a byte', Array(1000).fill(1), 2],
  ['short ones among large ones', [10, 10, 5000, 10, 10, 5000], 5],
  ['more short ones than there is room for', Array(40).fill(1000), 4],
  ['empty ones', [0, 0, 0], 0],
]
for (const [what, sizes, kept] of rows) {
  test(`${what}: ${kept} kept`, () => {
    const body = new BodyPieces()
    const sent = sizes.map((size, i) => Buffer.alloc(size, i))
    for (const piece of sent) body.add(piece)
    assert.equal(body.bytes, Buffer.concat(sent).length)
    assert.deepEqual(body.joined(), Buffer.concat(sent))
    assert.equal(body.all().length, kept)
    body.forget()
    assert.equal(body.all().length, 0)
  })
}
