/**
 * Long work in turns: after each turn others have theirs. Of several works only one has a turn between two turns of others,
 * so that nobody waits longer because there are many. Nothing here knows what the work is.
 *
 *   const turns = new Turns()
 *   for (const one of many) {
 *     work(one)
 *     if (turns.over) await turns.next()
 *   }
 */

/** Short enough that nobody notices, long enough that the changing of turns costs nothing beside it. */
const turnMs = 10

const waiting: (() => void)[] = []

function goOn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(goOn)
}

export class Turns {
  #began = performance.now()

  /** Whether it is time to let others have their turn. */
  get over(): boolean {
    return performance.now() - this.#began >= turnMs
  }

  async next(): Promise<void> {
    await new Promise<void>((done) => {
      waiting.push(done)
      if (waiting.length === 1) setImmediate(goOn)
    })
    this.#began = performance.now()
  }
}
