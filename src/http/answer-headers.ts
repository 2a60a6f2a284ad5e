/** The headers every answer has: which request it was, by which rule it was served, and what its client should know. */
import type { AnswerHeaders, Exchange } from './exchange.ts'

export function answerHeaders(exchange: Exchange, contentType: string): AnswerHeaders {
  const headers: AnswerHeaders = exchange.isSilentToCaches
    ? { 'audit-id': exchange.auditId, 'content-type': contentType }
    : {
        'audit-id': exchange.auditId,
        'cache-control': 'no-cache, private',
        'content-type': contentType,
      }
  if (exchange.tellsOnlyAudited && !exchange.record?.isKept) delete headers['audit-id']
  if (exchange.seat?.headers !== undefined) Object.assign(headers, exchange.seat.headers)
  if (exchange.warnings.length > 0) headers.warning = warningHeader(exchange.warnings)
  return headers
}

/** RFC 7234: `299 - "text"`, each warning once. Clients of several requests read them all. */
function warningHeader(warnings: readonly string[]): readonly string[] {
  return [...new Set(warnings)].map((text) => {
    const clean = text.replace(/[\u0000-\u001f\u007f]/g, ' ')
    const quoted = `299 - "${clean.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    // Node writes one byte a character: each byte of the UTF-8 becomes one.
    return /^[\u0020-\u007e]*$/.test(quoted)
      ? quoted
      : Buffer.from(quoted, 'utf8').toString('latin1')
  })
}
