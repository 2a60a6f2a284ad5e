/**
 * Delays a response until its request is recorded. Only complete responses are delayed; a streamed
 * one has started earlier. Only the first response is sent.
 */
import { goQuote } from '#api/go-syntax.ts'
import { internalError } from '#api/status-error.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import type { Exchange, Wire } from '#http/exchange.ts'

export class RecordedAnswer {
  #send: (() => void) | undefined
  #isFree = false

  constructor(wire: Wire) {
    const { answer, answerPieces } = wire
    wire.answer = (...stated) => this.#answered(() => answer.apply(wire, stated))
    wire.answerPieces = (...stated) => this.#answered(() => answerPieces.apply(wire, stated))
  }

  #answered(send: () => void): void {
    if (this.#isFree) send()
    else this.#send ??= send
  }

  /** Sends the response now, or as soon as there is one. */
  release(): void {
    this.#isFree = true
    const send = this.#send
    this.#send = undefined
    send?.()
  }
}

const inPages: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** kube-apiserver sends this error as text. The Status that is thrown afterwards is not sent. */
export function refuseUnrecorded(exchange: Exchange): never {
  const words = 'failed to store audit event'
  const path = goQuote(exchange.wire.url.replace(/[&<>]/g, (sign) => inPages[sign]!))
  const headers = answerHeaders(exchange, 'text/plain; charset=utf-8')
  exchange.wire.answer(
    500,
    { ...headers, 'x-content-type-options': 'nosniff' },
    Buffer.from(`Internal Server Error: ${path}: ${words}\n`),
  )
  throw internalError(words)
}
