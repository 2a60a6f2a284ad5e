/**
 * The timeout that a client requests: `?timeout=5s`. It has no effect if it exceeds the server's
 * own limit.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { timerMsMax } from '#base/clock.ts'
import { parseDuration } from '#api/duration.ts'
import { badRequest } from '#api/status-error.ts'
import { durationFault } from '#codec/go-json/time-fault.ts'

const rejectsInvalidTimeouts = change('a timeout that is no duration is rejected, for reads too', {
  since: 21,
})

export interface RequestedTimeout {
  readonly timeoutMs: number
  /** The message of the timeout error. */
  readonly words: string
}

/** Undefined if the client requests no valid timeout. Throws for an invalid duration. */
export function requestedTimeout(
  query: URLSearchParams,
  isWrite: boolean,
  limitMs: number,
  release: number,
): RequestedTimeout | undefined {
  const text = query.get('timeout') ?? ''
  if (text === '' || (!isWrite && !releaseOf(release).has(rejectsInvalidTimeouts))) return undefined
  const nanos = parseDuration(text)
  if (nanos === undefined) {
    if (!releaseOf(release).has(rejectsInvalidTimeouts)) return undefined
    const why = durationFault(text)
    throw badRequest(`invalid timeout specified in the request URL - ${why}`)
  }
  const timeoutMs = Number(nanos) / 1e6
  if (timeoutMs <= 0 || (limitMs > 0 && timeoutMs >= limitMs) || timeoutMs > timerMsMax) {
    return undefined
  }
  const words = releaseOf(release).has(rejectsInvalidTimeouts)
    ? 'request did not complete within the allotted timeout'
    : `request did not complete within requested timeout ${text}`
  return { timeoutMs, words }
}
