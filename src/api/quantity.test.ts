import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isZeroQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  signOfQuantity,
  subtractQuantities,
} from './quantity.ts'

const shape =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const number = 'unable to parse numeric part of quantity'
const suffix = "unable to parse quantity's suffix"

const canonical: [string | number, string][] = [
  ['0', '0'],
  ['-0', '0'],
  ['+', '0'],
  ['Ki', '0'],
  ['1000', '1k'],
  [1000, '1k'],
  [0.5, '500m'],
  ['0.5', '500m'],
  ['1.5', '1500m'],
  ['1.500', '1.500'],
  ['+5', '+5'],
  ['005', '005'],
  ['1500m', '1500m'],
  ['1000m', '1'],
  ['100m', '100m'],
  ['1024Ki', '1Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['1Gi', '1Gi'],
  ['8Gi', '8Gi'],
  ['12e6', '12e6'],
  ['12E6', '12E6'],
  ['1e2', '100'],
  ['1000E', '1'],
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['0.0001Ki', '102400u'],
  ['9223372036854775808Ki', '9223372036854775807'],
  ['1e1000000000', '10e999999999'],
  ['1e-1000000000', '1e-9'],
  ['  2  ', '2'],
]
for (const [text, expected] of canonical) {
  test(`${JSON.stringify(text)} is ${expected}`, () =>
    assert.equal(canonicalQuantity(text), expected))
}

const wrong: [string, string][] = [
  ['', shape],
  ['abc', shape],
  ['1 Gi', shape],
  ['1.2.3', shape],
  ['1e5i', shape],
  ['1e', suffix],
  ['1e+', suffix],
  ['1K', suffix],
  ['1Gi5', suffix],
  ['Ei', number],
]
for (const [text, message] of wrong) {
  test(`${JSON.stringify(text)} is refused`, () =>
    assert.throws(() => parseQuantity(text), { message }))
}

test('amounts compare by value, however far apart', () => {
  assert.equal(compareQuantities('1', '1000m'), 0)
  assert.equal(compareQuantities('1Ki', '1k'), 1)
  assert.equal(compareQuantities('-1', '1n'), -1)
  assert.equal(compareQuantities('1e1000000000', '1e999999999'), 1)
})

test('sums and differences keep the format of the first that is not zero', () => {
  assert.equal(formatQuantity(addQuantities('1Gi', '1')), '1073741825')
  assert.equal(formatQuantity(addQuantities('0', '1Gi')), '1Gi')
  assert.equal(formatQuantity(addQuantities('100m', '900m')), '1')
  assert.equal(formatQuantity(subtractQuantities('1', '100m')), '900m')
})

test('whole and thousandth values are rounded away from zero', () => {
  assert.equal(quantityValue('1500m'), 2n)
  assert.equal(quantityValue('-1500m'), -2n)
  assert.equal(quantityMilliValue('1u'), 1n)
  assert.equal(quantityMilliValue('2'), 2000n)
})

test('signs', () => {
  assert.equal(signOfQuantity('-1'), -1)
  assert.equal(signOfQuantity('0'), 0)
  assert.ok(isZeroQuantity('0Ki'))
})

test('thousandths overflow as numbers of 64 bits do', () => {
  const rest = (text: string) => quantityMilliValue(text) % 1000n
  assert.equal(quantityMilliValue('9223372036854775'), 9223372036854775000n)
  assert.notEqual(rest('9223372036854776'), 0n)
  assert.notEqual(rest('8071137005907524000'), 0n)
  assert.equal(rest('9223372036854775807'), 0n)
  assert.notEqual(rest('1Ei'), 0n)
})
