/**
 * Handles requests while the server listens but is not ready. It reports the progress of the start.
 * It rejects all other requests with a retry, because access rules and kinds are not loaded
 * completely.
 */
import { ApiError } from '#api/status-error.ts'
import type { Wire } from './exchange.ts'

const retryAfterSeconds = 1
const refusal = new ApiError(503, 'ServiceUnavailable', 'the server is starting', {
  retryAfterSeconds,
})
const healthPath = /^\/(healthz|livez|readyz)([/?]|$)/

export function untilReady(
  serve: (wire: Wire) => void,
  isReady: () => boolean,
): (wire: Wire) => void {
  return (wire) => {
    if (isReady() || healthPath.test(wire.url)) return serve(wire)
    const body = Buffer.from(`${JSON.stringify(refusal.status())}\n`)
    const headers = { 'content-type': 'application/json', 'retry-after': `${retryAfterSeconds}` }
    wire.answer(refusal.code, headers, body)
  }
}
