/**
 * Durations as Go writes them on a command line: `1h30m`, `500ms`, `0`. Answers milliseconds.
 * It never guesses a unit: a bare number other than 0 is no duration.
 */

const unitMs: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Milliseconds, or undefined where the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, sign, rest] = /^([+-]?)(.*)$/s.exec(text) as unknown as [string, string, string]
  if (rest === '0') return 0
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined
  let sum = 0
  for (const [, count, unit] of rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g))
    sum += Number(count) * (unitMs[unit as string] as number)
  return sign === '-' ? -sum : sum
}

/** A duration as Go prints it, for help and messages: `1h0m0s`, `500ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s'
  if (ms < 0) return `-${formatDuration(-ms)}`
  if (ms < 1000) return `${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor(ms / 60_000) % 60
  const seconds = Number(((ms % 60_000) / 1000).toFixed(3))
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}
