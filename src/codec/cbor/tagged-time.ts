/**
 * Formats seconds since 1970 as RFC 3339 in UTC. Example: 1363896240.5 is `2013-03-21T20:04:00.5Z`.
 */

/** The years that RFC 3339 can write: 0 to 9999. */
const secondsMin = -62167219200
const secondsMax = 253402300799

/** Undefined for an instant outside those years. */
export function instantText(seconds: number): string | undefined {
  const whole = Math.floor(seconds)
  if (!(whole >= secondsMin && whole <= secondsMax)) return undefined
  const start = new Date(whole * 1000).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)
  const nanos = Math.trunc((seconds - whole) * 1e9)
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0')}`.replace(/0+$/, '')
  return `${start}${fraction}Z`
}
