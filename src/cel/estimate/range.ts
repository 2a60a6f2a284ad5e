/**
 * Ranges of sizes and costs, from the least to the most that an expression can meet. For example,
 * `self.items` with maxItems 5 has the size 0 to 5. Arithmetic saturates at the greatest unsigned
 * integer of 64 bits, as cel-go's does.
 */
export interface Range {
  readonly min: number
  readonly max: number
}

/** The greatest unsigned integer of 64 bits, as a double. It means: no limit. */
export const unlimited = 2 ** 64

export const fixed = (value: number): Range => ({ min: value, max: value })

export const zero: Range = fixed(0)
export const one: Range = fixed(1)
export const unknownRange: Range = { min: 0, max: unlimited }
/** Contains nothing yet: the union with it is the other range. */
export const emptyRange: Range = { min: unlimited, max: 0 }

const saturated = (value: number): number => Math.min(value, unlimited)

/** 0 times no limit is 0. */
const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : saturated(a * b))

export const add = (a: Range, b: Range): Range => ({
  min: saturated(a.min + b.min),
  max: saturated(a.max + b.max),
})

export const multiply = (a: Range, b: Range): Range => ({
  min: product(a.min, b.min),
  max: product(a.max, b.max),
})

/** Multiplied by a factor and rounded up: 25 characters at 0.1 each cost 3. */
export const scale = ({ min, max }: Range, factor: number): Range => ({
  min: saturated(Math.ceil(min * factor)),
  max: saturated(Math.ceil(max * factor)),
})

export const union = (a: Range, b: Range): Range => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
})

/** A sum in integers of 64 bits that wraps around, where cel-go does not guard against it. */
export const wrapped = (value: bigint): number => Number(BigInt.asUintN(64, value))

/** The integer of 64 bits behind a bound. */
export const toUint64 = (bound: number): bigint =>
  bound >= unlimited ? 2n ** 64n - 1n : BigInt(bound)
