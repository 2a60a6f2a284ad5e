/**
 * Long work in turns: after each turn others have theirs. Nothing here knows what the work is.
 *
 *   const turns = new Turns()
 *   for (const one of many) {
 *     work(one)
 *     if (turns.over) await turns.next()
 *   }
 */

/** Short enough that nobody notices, long enough that the changing of turns costs nothing beside it. */
const turnMs = 10

export class Turns {
  #began = performance.now()

  /** Whether it is time to let others have their turn. */
  get over(): boolean {
    return performance.now() - this.#began >= turnMs
  }

  async next(): Promise<void> {
    await new Promise((done) => setImmediate(done))
    this.#began = performance.now()
  }
}
