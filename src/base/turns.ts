/**
 * Splits long work into turns, so that other work on the event loop can run in between. Only one of
 * several long jobs has a turn between two event loop iterations. So the number of jobs does not
 * delay requests.
 *
 *   const turns = new Turns()
 *   for (const one of many) {
 *     work(one)
 *     if (turns.over) await turns.next()
 *   }
 */

/** Short enough not to delay requests, long enough that switching costs little. */
const turnMs = 10

const waiting: (() => void)[] = []

function goOn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(goOn)
}

export class Turns {
  #began = performance.now()

  /** Whether the turn has lasted long enough. */
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
