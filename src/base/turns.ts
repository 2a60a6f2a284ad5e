/**
 * Long work in turns: after each turn others have theirs. Only one of several works has a turn
 * between two turns of others, so the number of works does not make others wait longer. Nothing
 * here knows what the work is.
 *
 *   const turns = new Turns()
 *   for (const one of many) {
 *     work(one)
 *     if (turns.over) await turns.next()
 *   }
 */

/** Short enough to be unnoticeable, long enough that switching turns costs little in comparison. */
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
