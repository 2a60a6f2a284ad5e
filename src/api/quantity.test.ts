import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '#base/processor-time.fixture.ts'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isZeroQuantity,
  parseQuantity,
  QuantityError,
  quantityMilliValue,
  quantityValue,
  roundUpToMilli,
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

test('quantities compare by value, however different their exponents are', () => {
  assert.equal(compareQuantities('1', '1000m'), 0)
  assert.equal(compareQuantities('1Ki', '1k'), 1)
  assert.equal(compareQuantities('-1', '1n'), -1)
  assert.equal(compareQuantities('1e1000000000', '1e999999999'), 1)
})

test('sums and differences have the format of the first nonzero operand', () => {
  assert.equal(formatQuantity(addQuantities('1Gi', '1')), '1073741825')
  assert.equal(formatQuantity(addQuantities('0', '1Gi')), '1Gi')
  assert.equal(formatQuantity(addQuantities('100m', '900m')), '1')
  assert.equal(formatQuantity(subtractQuantities('1', '100m')), '900m')
})

const sums: [a: string, b: string, sum: string, difference: string][] = [
  ['1', '2', '3', '-1'],
  ['1Ki', '1Ki', '2Ki', '0'],
  ['1Ki', '1', '1025', '1023'],
  ['1', '1Ki', '1025', '-1023'],
  ['0', '1e3', '1e3', '-1e3'],
  ['1e3', '0', '1e3', '1e3'],
  ['0.1', '0.2', '300m', '-100m'],
  ['1k', '1m', '1000001m', '999999m'],
  ['1M', '1n', '1000000000000001n', '999999999999999n'],
  ['-1', '1', '0', '-2'],
  ['9223372036854775807', '1', '9223372036854775808', '9223372036854775806'],
]
for (const [a, b, sum, difference] of sums)
  test(`${a} and ${b}`, () => {
    assert.equal(formatQuantity(addQuantities(a, b)), sum)
    assert.equal(formatQuantity(subtractQuantities(a, b)), difference)
    assert.equal(Math.sign(compareQuantities(a, b)), signOfQuantity(subtractQuantities(a, b)))
    assert.equal(Math.sign(compareQuantities(b, a)), signOfQuantity(subtractQuantities(b, a)))
  })

test('the sum of quantities with very different exponents is the larger one', () => {
  const far = (a: string, b: string) => addQuantities(a, b).unscaled * 10n
  assert.equal(far('3e1000000', '5'), 30n)
  assert.equal(far('5', '3e1000000'), 30n)
})

/** As quotas store their limits. */
const rounded: [string, string][] = [
  ['1', '1'],
  ['1500m', '1500m'],
  ['1u', '1m'],
  ['0.1n', '1m'],
  ['999n', '1m'],
  ['1e-3', '1e-3'],
  ['5e-10', '1e-3'],
  ['3.000001Ki', '3072002m'],
  ['1.000000000000000000001', '1001m'],
  ['1.1Ki', '1.1Ki'],
  ['-1u', '-1m'],
]
for (const [text, expected] of rounded)
  test(`${text} in thousandths`, () => assert.equal(roundUpToMilli(text), expected))

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

test('thousandths overflow like 64-bit numbers', () => {
  const rest = (text: string) => quantityMilliValue(text) % 1000n
  assert.equal(quantityMilliValue('9223372036854775'), 9223372036854775000n)
  assert.notEqual(rest('9223372036854776'), 0n)
  assert.notEqual(rest('8071137005907524000'), 0n)
  assert.equal(rest('9223372036854775807'), 0n)
  assert.notEqual(rest('1Ei'), 0n)
})

test('whole values overflow likewise', () => {
  assert.equal(quantityValue('9223372036854775807'), 9223372036854775807n)
  assert.equal(quantityValue('123456789012345678901234567890'), -4362896299872285998n)
})

const long = 100_000
const longTexts: [string, string][] = [
  ['zeros before a letter', `${'0'.repeat(long)}x`],
  ['digits before a letter', `${'1'.repeat(long)}x`],
  ['zeros between digits', `1${'0'.repeat(long)}1`],
  ['zeros in a fraction', `1.${'0'.repeat(long)}1x`],
  ['digits of an exponent', `1e${'1'.repeat(long)}x`],
]
for (const [what, text] of longTexts)
  test(`${what} are read in one pass`, () => {
    const took = processorMs(() => {
      try {
        canonicalQuantity(text)
      } catch (error) {
        assert.ok(error instanceof QuantityError)
      }
    })
    assert.ok(took < 1000, `${took} ms`)
  })
