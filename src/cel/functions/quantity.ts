/** Quantities: `quantity('1Gi').isGreaterThan(quantity('500Mi'))`. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  signOfQuantity,
  subtractQuantities,
} from '#api/quantity.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { CelError, OpaqueValue, overloadError, type Value } from '#cel/values.ts'

class QuantityValue extends OpaqueValue {
  readonly typeName = 'kubernetes.Quantity'
  readonly quantity: Quantity
  /**
   * kube-apiserver keeps sums and differences as pointers, with which no quantity can be compared.
   */
  readonly isResult: boolean
  constructor(quantity: Quantity, isResult = false) {
    super()
    this.quantity = quantity
    this.isResult = isResult
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof QuantityValue) || other.isResult) return overloadError(other)
    return compareQuantities(this.quantity, other.quantity) === 0
  }
  override toString(): string {
    return formatQuantity(this.quantity)
  }
}

function parse(text: string): Quantity | CelError {
  try {
    return parseQuantity(text)
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message)
    throw error
  }
}

const toQuantity: Implementation = (text) => {
  const quantity = parse(text as string)
  return quantity instanceof CelError ? quantity : new QuantityValue(quantity)
}

const int64Max = 2n ** 63n - 1n

/**
 * The value as an int of 64 bits; undefined if it is too large or has decimal places.
 * kube-apiserver does not reduce quantities: neither 1000m nor 1.0 is an integer, nor what sums
 * with them make.
 */
function wholeValue(quantity: Quantity): bigint | undefined {
  const { unscaled, scale } = quantity
  // More digits than an int of 64 bits has; and Go keeps such a quantity in another form.
  if (scale < 0 || quantity.long || scale > 18) return undefined
  const value = unscaled * 10n ** BigInt(scale)
  return value > int64Max || value < -int64Max - 1n ? undefined : value
}

/** Go multiplies by a power of ten in floating point. */
function approximate({ unscaled, scale }: Quantity): number {
  const base = Number(unscaled)
  if (scale === 0) return base
  return scale < 0 ? base / 10 ** -scale : base * 10 ** scale
}

const unary =
  (call: (quantity: Quantity) => Value): Implementation =>
  (value) =>
    value instanceof QuantityValue ? call(value.quantity) : overloadError(value)

const binary =
  (call: (a: Quantity, b: Quantity) => Value): Implementation =>
  (a, b) =>
    a instanceof QuantityValue && b instanceof QuantityValue
      ? call(a.quantity, b.quantity)
      : overloadError(a)

const resultOf = (quantity: Quantity): QuantityValue => new QuantityValue(quantity, true)

const withInt =
  (call: (a: Quantity, b: Quantity) => Quantity): Implementation =>
  (a, b) =>
    a instanceof QuantityValue && typeof b === 'bigint'
      ? resultOf(call(a.quantity, { unscaled: b, scale: 0, format: 'DecimalExponent' }))
      : overloadError(a)

export const quantityImplementations: readonly (readonly [string, Implementation])[] = [
  ['string_to_quantity', toQuantity],
  ['is_quantity_string', (text) => !(parse(text as string) instanceof CelError)],
  ['quantity_sign', unary((quantity) => BigInt(signOfQuantity(quantity)))],
  ['quantity_is_greater_than', binary((a, b) => compareQuantities(a, b) > 0)],
  ['quantity_is_less_than', binary((a, b) => compareQuantities(a, b) < 0)],
  ['quantity_compare_to', binary((a, b) => BigInt(compareQuantities(a, b)))],
  ['quantity_get_float', unary(approximate)],
  [
    'quantity_get_int',
    unary((quantity) => wholeValue(quantity) ?? new CelError('cannot convert value to integer')),
  ],
  ['quantity_is_integer', unary((quantity) => wholeValue(quantity) !== undefined)],
  ['quantity_add', binary((a, b) => resultOf(addQuantities(a, b)))],
  ['quantity_sub', binary((a, b) => resultOf(subtractQuantities(a, b)))],
  ['quantity_add_int', withInt(addQuantities)],
  ['quantity_sub_int', withInt(subtractQuantities)],
]
