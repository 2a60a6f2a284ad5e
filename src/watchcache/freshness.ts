/** Readers that wait until the watch cache has reached a revision. Each wait has a timeout. */
import type { Awaitable } from '#base/awaitable.ts'
import type { Revision } from '#storage/storage.ts'

interface Waiting {
  readonly revision: Revision
  readonly release: (reached: boolean) => void
  readonly timer: NodeJS.Timeout
}

export class Freshness {
  #waiting: Waiting[] = []
  #revision: Revision
  /** The server is stopping: the cache advances no more, so no reader may wait. */
  #isStopped = false

  constructor(revision: Revision) {
    this.#revision = revision
  }

  get revision(): Revision {
    return this.#revision
  }

  advance(revision: Revision): void {
    if (revision <= this.#revision) return
    this.#revision = revision
    if (this.#waiting.length === 0) return
    const still: Waiting[] = []
    for (const waiting of this.#waiting) {
      if (waiting.revision > revision) still.push(waiting)
      else {
        clearTimeout(waiting.timer)
        waiting.release(true)
      }
    }
    this.#waiting = still
  }

  /** The store was reset to an older revision. */
  setBack(revision: Revision): void {
    this.#revision = revision
  }

  /** Returns whether the revision was reached before the timeout. */
  reach(revision: Revision, timeoutMs: number): Awaitable<boolean> {
    if (revision <= this.#revision) return true
    if (this.#isStopped) return false
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        resolve(false)
      }, timeoutMs)
      const waiting: Waiting = { revision, release: resolve, timer }
      this.#waiting.push(waiting)
    })
  }

  /** Releases all waiters, now and later, because the server is stopping. */
  giveUp(): void {
    this.#isStopped = true
    for (const { timer, release } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      release(false)
    }
  }
}
