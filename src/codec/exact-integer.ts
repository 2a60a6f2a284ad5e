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

/** An integer as this server stores it: a number if that is exact, otherwise a bigint. */
export const exactInteger = (value: bigint): number | bigint =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value

const digits = /^-?[0-9]{1,20}$/

/**
 * Converts the digits of a number: a bigint if a double would round a 64-bit integer, which Go
 * decodes exactly.
 */
export function exactNumber(value: number, source: string): number | bigint {
  if (Number.isSafeInteger(value) || !digits.test(source)) return value
  const exact = BigInt(source)
  return exact >= int64Min && exact <= int64Max ? exact : value
}
