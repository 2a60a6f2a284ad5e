/**
 * The headers of every response: the audit ID, the flow schema and priority level, and warnings.
 */
import type { AnswerHeaders, Exchange } from '#http/exchange.ts'

export function answerHeaders(exchange: Exchange, contentType: string): AnswerHeaders {
  const headers: AnswerHeaders = exchange.omitsCacheHeaders
    ? { 'audit-id': exchange.auditId, 'content-type': contentType }
    : {
        'audit-id': exchange.auditId,
        'cache-control': 'no-cache, private',
        'content-type': contentType,
      }
  if (exchange.sendsAuditIdIfAudited && !exchange.record?.isKept) delete headers['audit-id']
  if (exchange.seat?.headers !== undefined) Object.assign(headers, exchange.seat.headers)
  if (exchange.warnings.length > 0) headers.warning = warningHeader(exchange.warnings)
  return headers
}

/** If all warnings exceed the first limit, each is cut to the second. */
const warningsLengthMax = 4096
const cutLength = 256

/**
 * RFC 7234: `299 - "text"`, each warning once. Empty warnings and those with control characters are
 * dropped.
 */
function warningHeader(warnings: readonly string[]): readonly string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '' && !/\p{Cc}/u.test(text))
  const length = texts.reduce((sum, text) => sum + [...text].length, 0)
  return (length > warningsLengthMax ? cut(texts) : texts).map(quoted)
}

/**
 * Cuts each warning and returns as many as fit. The first warnings always fit, up to the one whose
 * full text exceeds the limit.
 */
function cut(texts: readonly string[]): readonly string[] {
  const kept: string[] = []
  let [whole, written] = [0, 0]
  for (const text of texts) {
    if (whole > warningsLengthMax && written >= warningsLengthMax) break
    const letters = [...text]
    const short = letters.slice(0, cutLength)
    whole += letters.length
    written += short.length
    kept.push(short.join(''))
  }
  return kept
}

function quoted(text: string): string {
  const line = `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  // Node writes header characters as latin1, so each UTF-8 byte becomes one character.
  return /^[\u0020-\u007e]*$/.test(line) ? line : Buffer.from(line, 'utf8').toString('latin1')
}
