/**
 * Long work on one answer, in turns with all others. It ends when the client is gone. What is made
 * again for the audit log, whose records are written at once, has no turns.
 */
import { Turns } from '#base/turns.ts'
import type { Exchange } from './exchange.ts'

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
