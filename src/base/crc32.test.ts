import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import zlib from 'node:zlib'
import { crc32 } from './crc32.ts'

for (const [data, want] of [
  ['', 0],
  ['123456789', 0xcbf43926],
  ['/registry/pods/default/a', zlib.crc32('/registry/pods/default/a')],
  ['ключ', zlib.crc32('ключ')],
] as const) {
  test(`the checksum of ${JSON.stringify(data)}`, () => assert.equal(crc32(data), want))
}

test('bytes of every length have the checksum of zlib, in one piece and in two', () => {
  for (let length = 0; length < 300; length++) {
    const bytes = randomBytes(length)
    const want = zlib.crc32(bytes)
    assert.equal(crc32(bytes), want)
    const cut = length >> 1
    assert.equal(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut))), want)
  }
})
