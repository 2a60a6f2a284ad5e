/** What the original tells as a line of text instead of a Status: that something went wrong before the API was reached. */
import { goQuote } from '#api/go-syntax.ts'
import { internalError } from '#api/status-error.ts'
import { answerHeaders } from './answer-headers.ts'
import type { Exchange } from './exchange.ts'

const inPages: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** The Status that is thrown comes second, and is not sent. */
export function refuseInText(exchange: Exchange, words: string): never {
  const path = goQuote(exchange.wire.url.replace(/[&<>]/g, (sign) => inPages[sign]!))
  const headers = answerHeaders(exchange, 'text/plain; charset=utf-8')
  exchange.wire.answer(
    500,
    { ...headers, 'x-content-type-options': 'nosniff' },
    Buffer.from(`Internal Server Error: ${path}: ${words}\n`),
  )
  throw internalError(words)
}
