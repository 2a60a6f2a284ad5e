/**
 * Quantities (`100m`, `1.5Gi`, `12e6`): exact parsing and canonical formatting as in Kubernetes. A
 * quantity is `unscaled × 10^scale` with its suffix format; it is immutable. The smallest unit is a
 * billionth; finer values are rounded away from zero.
 */
import { byText } from '#base/by-text.ts'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  readonly unscaled: bigint
  readonly scale: number
  readonly format: QuantityFormat
  /**
   * The text as written, if kube-apiserver keeps it instead of formatting the value: `+5`, `1.500`.
   */
  readonly text?: string
  /** Whether kube-apiserver stores the value as a big number, which its messages show. */
  readonly long?: true
}

/** The text is not a valid quantity. The message is Kubernetes'. */
export class QuantityError extends Error {}

/** The digits are matched possessively, so that even the longest text is parsed in one pass. */
const shape = /^([+-]?)(?=([0-9]*))\2(?:\.(?=([0-9]*))\3)?([eEinumkKMGTP]*[-+]?[0-9]*)$/
const wrongShape =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const wrongNumber = 'unable to parse numeric part of quantity'
const wrongSuffix = "unable to parse quantity's suffix"

const decimalSuffixes = new Map<string, number>([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const binarySuffixes = new Map<string, number>([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
])
const decimalSuffixOf = new Map([...decimalSuffixes].map(([suffix, power]) => [power, suffix]))
const binarySuffixOf = new Map([...binarySuffixes].map(([suffix, power]) => [power, suffix]))

const nano = -9
const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
/**
 * If exponents differ by more than this, quantities are compared and added without expanding the
 * zeros.
 */
const digitsApartMax = 4096

export const zeroQuantity: Quantity = { unscaled: 0n, scale: 0, format: 'DecimalSI', text: '0' }

/** The number of cached quantities: more than a cluster has different requests and limits. */
const rememberedMax = 4096

/**
 * Throws QuantityError. Results are cached, because several rules parse the same few quantities.
 */
export const parseQuantity = byText(readQuantity, rememberedMax)

function readQuantity(text: string): Quantity {
  if (text === '0') return zeroQuantity
  if (text === '') throw new QuantityError(wrongShape)
  const match = shape.exec(text)
  if (match === null) throw new QuantityError(wrongShape)
  const negative = match[1] === '-'
  const whole = (match[2] as string).replace(/^0+/, '') || '0'
  const fraction = match[3] ?? ''
  const suffix = match[4] as string
  const { format, power } = readSuffix(suffix)
  const digits = whole + fraction
  const quick =
    format === 'BinarySI'
      ? fraction === '' && 15 - whole.length - Math.trunc((power * 3) / 10) - 1 >= 0
      : digits.length <= 18 && power - fraction.length >= nano
  const unscaled = BigInt(digits)
  if (quick) return quickQuantity(text, digits, unscaled, negative, format, power, fraction.length)
  if (!/[0-9]/.test(text.slice(0, text.length - suffix.length))) {
    throw new QuantityError(wrongNumber)
  }
  return slowQuantity(unscaled, negative, format, power, fraction.length)
}

function readSuffix(suffix: string): { format: QuantityFormat; power: number } {
  const decimal = decimalSuffixes.get(suffix)
  if (decimal !== undefined) return { format: 'DecimalSI', power: decimal }
  const binary = binarySuffixes.get(suffix)
  if (binary !== undefined) return { format: 'BinarySI', power: binary }
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) throw new QuantityError(wrongSuffix)
  const exponent = BigInt(suffix.slice(1).replace('+', ''))
  if (exponent > int64Max || exponent < int64Min) throw new QuantityError(wrongSuffix)
  return { format: 'DecimalExponent', power: Number(BigInt.asIntN(32, exponent)) }
}

/**
 * Fast path for numbers with few digits. They are exact, and a text that looks canonical is kept.
 */
function quickQuantity(
  text: string,
  digits: string,
  unscaled: bigint,
  negative: boolean,
  format: QuantityFormat,
  power: number,
  fractionLength: number,
): Quantity {
  if (format === 'BinarySI') {
    const amount = unscaled << BigInt(power)
    const quantity = { unscaled: negative ? -amount : amount, scale: 0, format }
    return (unscaled & 7n) !== 0n ? { ...quantity, text } : quantity
  }
  const scale = power - fractionLength
  const quantity = { unscaled: negative ? -unscaled : unscaled, scale, format }
  const looksCanonical = scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0'
  return looksCanonical ? { ...quantity, text } : quantity
}

function slowQuantity(
  digits: bigint,
  negative: boolean,
  format: QuantityFormat,
  power: number,
  fractionLength: number,
): Quantity {
  let unscaled = format === 'BinarySI' ? digits << BigInt(power) : digits
  let scale = (format === 'BinarySI' ? 0 : power) - fractionLength
  if (unscaled !== 0n && scale < nano) {
    unscaled = divideUp(unscaled, nano - scale)
    scale = nano
  }
  let kept = format
  if (format === 'BinarySI') {
    if (order(unscaled, scale, int64Max, 0) > 0) {
      unscaled = int64Max
      scale = 0
    }
    if (unscaled > 0n && order(unscaled, scale, 1n, 0) < 0) kept = 'DecimalSI'
  }
  return { unscaled: negative ? -unscaled : unscaled, scale, format: kept, long: true }
}

/** Returns `amount / 10^power`, rounded away from zero. */
function divideUp(amount: bigint, power: number): bigint {
  const sign = amount < 0n ? -1n : 1n
  const size = amount * sign
  if (power > size.toString().length) return size === 0n ? 0n : sign
  const divisor = 10n ** BigInt(power)
  const whole = size / divisor
  return sign * (size % divisor === 0n ? whole : whole + 1n)
}

function order(a: bigint, aScale: number, b: bigint, bScale: number): number {
  const aSign = a === 0n ? 0 : a < 0n ? -1 : 1
  const bSign = b === 0n ? 0 : b < 0n ? -1 : 1
  if (aSign !== bSign || aSign === 0) return Math.sign(aSign - bSign)
  if (aScale !== bScale) {
    const length = (n: bigint) => n.toString().length - (n < 0n ? 1 : 0)
    const apart = length(a) + aScale - (length(b) + bScale)
    if (apart !== 0) return apart > 0 ? aSign : -aSign
    if (aScale > bScale) a *= 10n ** BigInt(aScale - bScale)
    else b *= 10n ** BigInt(bScale - aScale)
  }
  return a === b ? 0 : a < b ? -1 : 1
}

export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text
  const { unscaled, scale } = quantity
  if (unscaled === 0n) return '0'
  if (quantity.format === 'BinarySI' && isWholeAndLarge(unscaled, scale)) {
    let amount = scale < 0 ? unscaled / 10n ** BigInt(-scale) : unscaled * 10n ** BigInt(scale)
    let power = 0
    while (amount % 1024n === 0n) {
      amount /= 1024n
      power += 10
    }
    return `${amount}${binarySuffixOf.get(power) ?? ''}`
  }
  const [amount, power] = decimalParts(unscaled, scale)
  if (quantity.format === 'DecimalExponent') return power === 0 ? amount : `${amount}e${power}`
  return `${amount}${decimalSuffixOf.get(power) ?? ''}`
}

function isWholeAndLarge(unscaled: bigint, scale: number): boolean {
  const size = unscaled < 0n ? -unscaled : unscaled
  if (order(size, scale, 1024n, 0) < 0) return false
  return scale >= 0 || unscaled % 10n ** BigInt(-scale) === 0n
}

/** Moves trailing zeros into the exponent, which is a multiple of three. */
function decimalParts(unscaled: bigint, scale: number): [string, number] {
  const digits = unscaled.toString()
  const bare = digits.replace(/(?<!0)0+$/, '')
  const power = scale + digits.length - bare.length
  const over = ((power % 3) + 3) % 3
  return [bare + '0'.repeat(over), power - over]
}

/** The canonical text of a quantity from JSON, a string or a number. Throws QuantityError. */
export const canonicalQuantity = (value: string | number): string => canonicalOf(String(value))

const canonicalOf = byText((raw) => formatQuantity(parseQuantity(raw.trim())), rememberedMax)

const asQuantity = (value: Quantity | string | number): Quantity =>
  typeof value === 'object' ? value : parseQuantity(String(value))

export function compareQuantities(a: Quantity | string, b: Quantity | string): number {
  if (a === b) return 0
  const x = asQuantity(a)
  const y = asQuantity(b)
  return order(x.unscaled, x.scale, y.unscaled, y.scale)
}

/** The sum, in the format of `a`, or of `b` if `a` is zero. */
export function addQuantities(a: Quantity | string, b: Quantity | string): Quantity {
  const x = asQuantity(a)
  const y = asQuantity(b)
  const format = x.unscaled === 0n ? y.format : x.format
  if (y.unscaled === 0n) return { unscaled: x.unscaled, scale: x.scale, format }
  if (x.unscaled === 0n) return { unscaled: y.unscaled, scale: y.scale, format }
  if (Math.abs(x.scale - y.scale) > digitsApartMax) {
    const larger = x.scale > y.scale ? x : y
    return { unscaled: larger.unscaled, scale: larger.scale, format }
  }
  const scale = Math.min(x.scale, y.scale)
  const unscaled =
    x.unscaled * 10n ** BigInt(x.scale - scale) + y.unscaled * 10n ** BigInt(y.scale - scale)
  return { unscaled, scale, format }
}

const negateQuantity = (value: Quantity | string): Quantity => {
  const { unscaled, scale, format } = asQuantity(value)
  return { unscaled: -unscaled, scale, format }
}

export const subtractQuantities = (a: Quantity | string, b: Quantity | string): Quantity =>
  addQuantities(a, negateQuantity(b))

export const isZeroQuantity = (value: Quantity | string): boolean =>
  asQuantity(value).unscaled === 0n

export function signOfQuantity(value: Quantity | string): -1 | 0 | 1 {
  const { unscaled } = asQuantity(value)
  return unscaled === 0n ? 0 : unscaled < 0n ? -1 : 1
}

/**
 * Powers of ten for which kube-apiserver multiplies in one step, so that 64 bits can overflow. With
 * other powers an overflow yields zero.
 */
const wrappingPowers = new Set([1, 2, 3, 6, 9])

/** The amount in units of 10^scale, rounded away from zero, as a number of 64 bits. */
function scaledValue(value: Quantity | string, scale: number): bigint {
  const quantity = asQuantity(value)
  const power = quantity.scale - scale
  if (power <= 0) return BigInt.asIntN(64, divideUp(quantity.unscaled, -power))
  const { unscaled, long } = quantity
  const factor = 10n ** BigInt(Math.min(power, digitsApartMax))
  const exact = unscaled * factor
  if (BigInt.asIntN(64, exact) === exact) return exact
  if (!long && !wrappingPowers.has(power)) return 0n
  return BigInt.asIntN(64, BigInt.asIntN(64, unscaled) * factor)
}

export const quantityValue = (value: Quantity | string): bigint => scaledValue(value, 0)
export const quantityMilliValue = (value: Quantity | string): bigint => scaledValue(value, -3)

/**
 * Fast path for whole thousandths, which nearly all quantities are. Rounding does not change them.
 */
const wholeMillis = /^[0-9]+(?:m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/

/**
 * Rounds a quantity up, away from zero, to whole thousandths. A quantity that has no smaller
 * fraction keeps its text.
 */
export function roundUpToMilli(text: string): string {
  if (wholeMillis.test(text)) return text
  const quantity = parseQuantity(text)
  if (quantity.scale >= -3) return text
  const unscaled = divideUp(quantity.unscaled, -3 - quantity.scale)
  return formatQuantity({ unscaled, scale: -3, format: quantity.format })
}

/** A quantity of `amount` units in decimal format. */
export const quantityOf = (amount: number | bigint): Quantity => ({
  unscaled: BigInt(amount),
  scale: 0,
  format: 'DecimalSI',
})
