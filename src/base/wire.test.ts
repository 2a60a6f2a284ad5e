import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WireError, WireReader, WireWriter } from './wire.ts'

function written(write: (writer: WireWriter) => void): string {
  const writer = new WireWriter(1)
  write(writer)
  return writer.bytes().toString('hex')
}

const varints: [number | bigint, string][] = [
  [0, '00'],
  [1, '01'],
  [127, '7f'],
  [128, '8001'],
  [300, 'ac02'],
  [2 ** 31 - 1, 'ffffffff07'],
  [2 ** 31, '8080808008'],
  [2 ** 32, '8080808010'],
  [2 ** 53 - 1, 'ffffffffffffff0f'],
  [-1, 'ffffffffffffffffff01'],
  [-2, 'feffffffffffffffff01'],
  [-(2 ** 31), '80808080f8ffffffff01'],
  [-(2 ** 53) + 1, '81808080808080f0ff01'],
  [2n ** 63n - 1n, 'ffffffffffffffff7f'],
  [-(2n ** 63n), '80808080808080808001'],
]

for (const [value, hex] of varints) {
  test(`varint ${value}`, () => {
    const reader = () => new WireReader(Buffer.from(hex, 'hex'))
    assert.equal(
      written((writer) => writer.int64(value)),
      hex,
    )
    assert.equal(reader().int64(), value)
    assert.equal(reader().bool(), value !== 0)
    if (value >= 0) assert.equal(reader().uint64(), value)
    if (typeof value === 'number' && Math.abs(value) < 2 ** 31)
      assert.equal(reader().int32(), value)
  })
}

test('strings, bytes and doubles of any length are read as written', () => {
  const texts = [
    '',
    'short',
    'é',
    '𝒳'.repeat(10),
    'x'.repeat(24),
    'x'.repeat(25),
    'y'.repeat(70_000),
  ]
  const writer = new WireWriter(4)
  for (const text of texts.toReversed()) {
    const start = writer.length
    writer.double(-0.25)
    writer.delimited(Buffer.from(text))
    writer.string(text)
    writer.varint(writer.length - start)
  }
  const reader = new WireReader(writer.bytes())
  for (const text of texts) {
    const outer = reader.enter()
    assert.equal(reader.string(), text)
    assert.equal(reader.bytes().toString(), text)
    assert.equal(reader.double(), -0.25)
    assert.ok(reader.done)
    reader.leave(outer)
  }
  assert.ok(reader.done)
})

test('unknown fields are skipped', () => {
  const fields = ['08ac02', '110102030405060708', '1a03616263', '232a017824', '2d01020304', '3007']
  const reader = new WireReader(Buffer.from(fields.join(''), 'hex'))
  for (let i = 0; i < 5; i++) reader.skip(reader.tag())
  assert.equal(reader.tag() >>> 3, 6)
  assert.equal(reader.uint64(), 7)
})

const malformed: [string, string][] = [
  ['a varint without an end', '08ffff'],
  ['a varint of eleven bytes', '08ffffffffffffffffffff01'],
  ['a length beyond the end', '0a7f00'],
  ['a length beyond reason', '0affffffffffffff7f00'],
  ['field 0', '0001'],
  ['wire type 6', '0e00'],
  ['wire type 7', '0f00'],
  ['the end of no group', '0c'],
  ['a group without an end', '0b0801'],
  ['half a double', '0901020304'],
  ['half a float', '0d0102'],
]
for (const [name, hex] of malformed) {
  test(`malformed: ${name}`, () => {
    assert.throws(() => skipAll(Buffer.from(hex, 'hex')), WireError)
  })
}

const numbers: [number: bigint, read: number | RegExp][] = [
  [2n ** 28n + 1n, 2 ** 28 + 1],
  [2n ** 29n + 1n, 2 ** 29 - 1],
  [2n ** 31n - 1n, 2 ** 29 - 1],
  [2n ** 31n, /^proto: M: illegal tag -2147483648 \(wire type 17179869184\)$/],
  [2n ** 32n, /^proto: M: illegal tag 0 \(wire type 34359738368\)$/],
  [2n ** 32n + 7n, 7],
  [2n ** 61n - 1n, /^proto: M: illegal tag -1 \(wire type 18446744073709551608\)$/],
]
for (const [number, read] of numbers) {
  test(`a field's number has 32 bits and a sign: ${number}`, () => {
    const writer = new WireWriter()
    writer.int64(number * 8n)
    const tag = () => new WireReader(writer.bytes()).tag('M')
    if (typeof read === 'number') assert.equal(tag() >>> 3, read)
    else assert.throws(tag, { name: 'WireError', message: read })
  })
}

test('random bytes yield a value or a WireError', () => {
  let seed = 42
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) >>> 8
  for (let round = 0; round < 2000; round++) {
    const noise = Buffer.from(Array.from({ length: random() % 40 }, () => random() & 0xff))
    try {
      skipAll(noise)
    } catch (error) {
      assert.ok(error instanceof WireError, `${noise.toString('hex')}: ${error}`)
    }
  }
})

function skipAll(bytes: Buffer): void {
  const reader = new WireReader(bytes)
  while (!reader.done) reader.skip(reader.tag())
}
