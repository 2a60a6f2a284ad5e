/** Values as CBOR, byte for byte as kube-apiserver encodes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Type } from '#schema/type.ts'
import { decodeCborMap } from './decode.ts'
import { encodeCbor, encodeCborEvent } from './encode.ts'

const hexOf = (value: unknown, type?: Type) => encodeCbor(value as Json, type).toString('hex')

const rows: [value: unknown, hex: string][] = [
  [null, 'f6'],
  [true, 'f5'],
  [false, 'f4'],
  [0, '00'],
  [23, '17'],
  [24, '1818'],
  [255, '18ff'],
  [256, '190100'],
  [65536, '1a00010000'],
  [2 ** 32, '1b0000000100000000'],
  [-1, '20'],
  [-256, '38ff'],
  [-257, '390100'],
  [2n ** 63n - 1n, '1b7fffffffffffffff'],
  [-(2n ** 63n), '3b7fffffffffffffff'],
  [1.5, 'f93e00'],
  [-4.25, 'f9c440'],
  [2 ** -24, 'f90001'],
  [2 ** -14, 'f90400'],
  [3 * 2 ** -25, 'fa33c00000'],
  [65504.5, 'fa477fe080'],
  [1.1, 'fb3ff199999999999a'],
  [1e300, 'fb7e37e43c8800759c'],
  ['', '40'],
  ['ü', '42c3bc'],
  ['a'.repeat(24), `5818${'61'.repeat(24)}`],
  [[1, [2]], '82018102'],
  [{ bb: 1, a: 2, c: 3 }, 'a3 4161 02 4163 03 426262 01'],
  [{ a: undefined }, 'a0'],
  // The length of the encoded key takes precedence over its bytes.
  [{ ü: 1, z: 2 }, 'a2 417a 02 42c3bc 01'],
]
for (const [value, hex] of rows) {
  test(`encodes ${hex}`, () => assert.equal(hexOf(value), `d9d9f7${hex.replaceAll(' ', '')}`))
}

const type = structOf('', [
  field('data', mapOf(scalar('bytes')), 1),
  field('min', scalar('float64'), 2),
  field(
    'either',
    structOf('', [field('one', () => type, 1), field('many', listOf(scalar('float64')), 2)], {
      union: true,
    }),
    3,
  ),
])
const typed: [value: unknown, hex: string][] = [
  [{ data: { a: 'YWJj' } }, 'a1 4464617461 a1 4161 d643616263'],
  [{ min: 1 }, 'a1 436d696e f93c00'],
  [{ either: { min: 1 } }, 'a1 46656974686572 a1 436d696e f93c00'],
  [{ either: [1] }, 'a1 46656974686572 81 f93c00'],
  [{ either: true }, 'a1 46656974686572 f5'],
]
for (const [value, hex] of typed) {
  test(`by type: ${JSON.stringify(value)}`, () =>
    assert.equal(hexOf(value, type), `d9d9f7${hex.replaceAll(' ', '')}`))
}

test('64-bit integers are decoded as they were encoded', () => {
  const value = { max: 2n ** 63n - 1n, min: -(2n ** 63n) } as unknown as Json
  assert.deepEqual(decodeCborMap(encodeCbor(value)), value)
})

test('an event is a document around a document', () => {
  const event = encodeCborEvent('ADDED', encodeCbor({ a: 1 })).toString('hex')
  assert.equal(event, 'd9d9f7a24474797065454144444544466f626a656374d9d9f7a1416101')
})
