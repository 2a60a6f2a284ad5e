/**
 * Logs a line for each request, from a verbosity that operators may change at run time. Bodies are
 * not logged here; the audit log has them.
 */
import type { Observer } from '#http/parts.ts'
import type { Log } from '#observe/log.ts'
import { reportedVerb, scopeOf } from './request-place.ts'

/**
 * From the first level on each request is logged. From the second on the line also has the user and
 * the reason of a rejection.
 */
const eachRequest = 2
const userFromVerbosity = 4

export function requestLog(log: Log, monotonicMs: () => number): Observer {
  return {
    end(exchange) {
      if (log.verbosity < eachRequest) return
      const { auditId, wire, target, status, startedAt, answeredBytes } = exchange
      const fields = {
        auditId,
        verb: reportedVerb(exchange, scopeOf(target)),
        uri: wire.url,
        status,
        tookMs: Math.round(monotonicMs() - startedAt),
        bytes: answeredBytes,
        userAgent: wire.headers['user-agent'] ?? '',
        from: wire.remoteAddress,
      }
      log.info(
        'request',
        log.verbosity < userFromVerbosity ? fields : { ...fields, ...more(exchange) },
      )
    },
  }
}

/** Error messages of these requests may quote a Secret, so only the reason is logged. */
const quoting = new Set([400, 422, 500])

const more = ({ user, impersonator, refusal }: Parameters<NonNullable<Observer['end']>>[0]) => ({
  user: user.name,
  groups: user.groups,
  ...(impersonator !== undefined && { impersonator: impersonator.name }),
  ...(refusal !== undefined && {
    refusal: quoting.has(refusal.code) ? refusal.reason : refusal.message,
  }),
})
