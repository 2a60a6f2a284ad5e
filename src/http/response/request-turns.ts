/**
 * Lets long work on a response yield to other requests. The work ends when the client has
 * disconnected. Work for the audit log does not yield, because its records are written immediately.
 */
import { Turns } from '#base/turns.ts'
import type { Exchange } from '#http/exchange.ts'

type Asker = Pick<Exchange, 'status' | 'refusal' | 'wire'>

export class RequestTurns extends Turns {
  readonly #exchange: Asker

  constructor(exchange: Asker) {
    super()
    this.#exchange = exchange
  }

  override get over(): boolean {
    return this.#exchange.status === 0 && super.over
  }

  override async next(): Promise<void> {
    await super.next()
    const { refusal, wire } = this.#exchange
    if (refusal !== undefined || wire.signal.aborted)
      throw new Error('nobody waits for the answer any more')
  }
}
