/**
 * The timeouts of running requests. All requests have the same timeout, so they expire in the order
 * of their start, and one timer suffices. The timer stays after the last request, because the next
 * one usually follows at once; when the server stops, it must not outlive the requests.
 */
import { timerMsMax } from '#base/clock.ts'

export class Deadlines<Request> {
  readonly #limitMs: number
  readonly #expire: (request: Request) => void
  readonly #monotonicMs: () => number
  /** The start time of each request, oldest first. */
  readonly #running = new Map<Request, number>()
  #timer: NodeJS.Timeout | undefined
  #isStopping = false

  /** With a limit of 0, requests never expire. */
  constructor(limitMs: number, monotonicMs: () => number, expire: (request: Request) => void) {
    this.#limitMs = limitMs
    this.#monotonicMs = monotonicMs
    this.#expire = expire
  }

  begin(request: Request, nowMs: number): void {
    if (this.#limitMs <= 0) return
    this.#running.set(request, nowMs)
    if (this.#timer === undefined) this.#wait(this.#limitMs)
  }

  end(request: Request): void {
    this.#running.delete(request)
    if (this.#isStopping) this.#clearIfIdle()
  }

  /** From now on, no timer waits while no request runs: it would keep the server in memory. */
  stop(): void {
    this.#isStopping = true
    this.#clearIfIdle()
  }

  #clearIfIdle(): void {
    if (this.#running.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(delayMs: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.min(delayMs, timerMsMax))
    this.#timer.unref()
  }

  #look(): void {
    const nowMs = this.#monotonicMs()
    for (const [request, beganMs] of this.#running) {
      const leftMs = beganMs + this.#limitMs - nowMs
      if (leftMs > 0) return void this.#wait(Math.ceil(leftMs))
      this.#running.delete(request)
      // `expire` may start the request's deadline again, at the end of the queue.
      this.#expire(request)
    }
    this.#timer = undefined
  }
}
