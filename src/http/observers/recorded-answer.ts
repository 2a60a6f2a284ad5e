/**
 * An answer that leaves once its request is recorded. Whole answers alone: what is streamed has begun before it is over.
 * The first answer counts, as on the wire itself.
 */
import type { Wire } from '#http/exchange.ts'

export class RecordedAnswer {
  #send: (() => void) | undefined
  #isFree = false

  constructor(wire: Wire) {
    const { answer, answerPieces } = wire
    wire.answer = (...said) => this.#answered(() => answer.apply(wire, said))
    wire.answerPieces = (...said) => this.#answered(() => answerPieces.apply(wire, said))
  }

  #answered(send: () => void): void {
    if (this.#isFree) send()
    else this.#send ??= send
  }

  /** Lets go what was answered, or will be. */
  release(): void {
    this.#isFree = true
    const send = this.#send
    this.#send = undefined
    send?.()
  }
}
