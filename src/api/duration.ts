/**
 * Durations in Go's format: "1m30s", "1.5s", "250µs". Nanoseconds are bigint, because Go's have 64
 * bits.
 */

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const largest = 2n ** 63n
/** Limit of the text. A duration that fits in 64 bits never needs more. */
const textLengthMax = 200
const part = /^(\d*)(\.\d*)?([^\d.]+)/

/** Parses to nanoseconds; undefined if the text is not a duration. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > textLengthMax) return undefined
  const negative = text.startsWith('-')
  let rest = negative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return 0n
  if (rest === '') return undefined
  let total = 0n
  while (rest !== '') {
    const match = part.exec(rest)
    if (match === null) return undefined
    const [all, whole, fraction = '', unit] = match
    const nanos = Object.hasOwn(unitNanos, unit) ? unitNanos[unit] : undefined
    if (nanos === undefined || (whole === '' && fraction.length < 2)) return undefined
    total += BigInt(whole === '' ? '0' : whole) * nanos
    const digits = fraction.slice(1)
    if (digits !== '') total += (BigInt(digits) * nanos) / 10n ** BigInt(digits.length)
    rest = rest.slice(all.length)
  }
  if (total >= largest && !(negative && total === largest)) return undefined
  return negative ? -total : total
}

const withFraction = (value: bigint, unit: bigint): string => {
  const fraction = String(value % unit)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(value / unit) : `${value / unit}.${fraction}`
}

/** Formats nanoseconds like Go: no leading zero units, and fractions without trailing zeros. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const sign = nanos < 0n ? '-' : ''
  const size = nanos < 0n ? -nanos : nanos
  if (size < 1000n) return `${sign}${size}ns`
  if (size < 1_000_000n) return `${sign}${withFraction(size, 1000n)}µs`
  if (size < 1_000_000_000n) return `${sign}${withFraction(size, 1_000_000n)}ms`
  const hours = size / unitNanos['h']
  const minutes = (size / unitNanos['m']) % 60n
  const seconds = withFraction(size % unitNanos['m'], unitNanos['s'])
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}s`
  return minutes > 0n ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`
}

/** Normalises a duration to Go's format. Undefined if the text is invalid. */
export function canonicalDuration(text: string): string | undefined {
  const nanos = parseDuration(text)
  return nanos === undefined ? undefined : formatDuration(nanos)
}
