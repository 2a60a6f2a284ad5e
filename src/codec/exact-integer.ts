/**
 * Integers that a double cannot represent are bigint in this server, and JSON.stringify writes them
 * as plain digits. Every module that creates such values loads this one.
 */
const json = JSON as unknown as { rawJSON(text: string): unknown }

Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint) {
    return json.rawJSON(this.toString())
  },
  writable: true,
  configurable: true,
})

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** An integer as this server keeps it: a number where that is exact, else a bigint. */
export const exactInteger = (value: bigint): number | bigint =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value

const digits = /^-?[0-9]{1,20}$/

/**
 * The value of a number's digits: bigint where a double would round an integer of 64 bits, as Go
 * reads it.
 */
export function exactNumber(value: number, source: string): number | bigint {
  if (Number.isSafeInteger(value) || !digits.test(source)) return value
  const exact = BigInt(source)
  return exact >= int64Min && exact <= int64Max ? exact : value
}
