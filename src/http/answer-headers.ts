/**
 * The headers every answer has: which request it was, by which rule it was served, and what its
 * client should know.
 */
import type { AnswerHeaders, Exchange } from './exchange.ts'

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

/** Characters of all warnings together, from where on each is cut, and what is left of one then. */
const warningsLengthMax = 4096
const cutLength = 256

/**
 * RFC 7234: `299 - "text"`, each warning once. Clients of several requests read them all. An empty
 * one, and one that no header could carry, is left out.
 */
function warningHeader(warnings: readonly string[]): readonly string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '' && !/\p{Cc}/u.test(text))
  const length = texts.reduce((sum, text) => sum + [...text].length, 0)
  return (length > warningsLengthMax ? cut(texts) : texts).map(quoted)
}

/**
 * Where they are too long together they are as many as fit, each cut; those up to the first too
 * many all fit.
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
  // Node writes one byte a character: each byte of the UTF-8 becomes one.
  return /^[\u0020-\u007e]*$/.test(line) ? line : Buffer.from(line, 'utf8').toString('latin1')
}
