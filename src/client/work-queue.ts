/**
 * A work queue of keys. Each key is queued at most once and processed at most once at a time. A
 * failed key is retried with exponential backoff. A key that is added while it is processed is
 * processed again afterwards.
 */
import { type Cancel, systemClock, type TimerClock, timerMsMax } from '#base/clock.ts'
import { type Backoff, waitAfter } from './backoff.ts'

/** Receives the metrics of a queue. */
export interface QueueMeter {
  added(): void
  /** The number of waiting keys. */
  waiting(keys: number): void
  /** Called at the start of the work; the returned function is called at its end. */
  began(waitedMs: number): () => void
  retried(): void
}

export interface WorkQueueOptions {
  /**
   * Processes a key. If it throws, the key is retried with backoff. If it returns milliseconds, the
   * key is processed again after that time.
   */
  readonly work: (key: string) => Promise<number | undefined | void>
  readonly workersMax: number
  readonly signal: AbortSignal
  readonly report: (key: string, error: unknown, failures: number) => void
  readonly backoff?: Backoff
  /**
   * The clock for delays that work requests. Retries of failed keys use real time, because they may
   * depend on other servers.
   */
  readonly clock?: TimerClock
  readonly meter?: QueueMeter | undefined
  /** If true, the queue waits for `start`. */
  readonly paused?: boolean
}

/** The maximum time that work without I/O may run before requests get a turn. */
const turnMsMax = 5
const defaultBackoff = { firstMs: 10, longestMs: 60_000 }

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #backoff: Backoff
  readonly #waiting = new Set<string>()
  readonly #inWork = new Set<string>()
  readonly #again = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #later = new Map<string, { cancel: Cancel; at: number }>()
  /** Set only if there is an observer. */
  readonly #addedAt = new Map<string, number>()
  #workers = 0
  /** The number of started workers that have not taken a key yet. */
  #starting = 0
  #paused: boolean

  constructor(options: WorkQueueOptions) {
    this.#options = options
    this.#backoff = options.backoff ?? defaultBackoff
    this.#paused = options.paused ?? false
    options.signal.addEventListener('abort', () => this.#clear(), { once: true })
  }

  /** Number of keys that wait or are being processed. */
  get length(): number {
    return this.#waiting.size + this.#inWork.size
  }

  start(): void {
    this.#paused = false
    this.#fill()
  }

  add(key: string): void {
    if (this.#options.signal.aborted) return
    if (this.#inWork.has(key)) {
      this.#again.add(key)
      return
    }
    this.#forgetTimer(key)
    this.#wait(key)
    this.#fill()
  }

  #wait(key: string): void {
    const { meter } = this.#options
    if (meter !== undefined && !this.#waiting.has(key)) {
      this.#addedAt.set(key, performance.now())
      meter.added()
    }
    this.#waiting.add(key)
    meter?.waiting(this.#waiting.size)
  }

  /** Adds a key after a delay. An earlier pending delay of the key is kept. */
  addAfter(key: string, ms: number, clock: TimerClock = systemClock): void {
    if (this.#options.signal.aborted) return
    if (ms <= 0) {
      this.add(key)
      return
    }
    const at = clock.elapsed() + ms
    const set = this.#later.get(key)
    if (set !== undefined && set.at <= at) return
    this.#forgetTimer(key)
    // Timers are limited to about 24 days, so a longer delay is checked again after that.
    const cancel = clock.after(Math.min(ms, timerMsMax), () => {
      this.#later.delete(key)
      this.add(key)
    })
    this.#later.set(key, { cancel, at })
  }

  #forgetTimer(key: string): void {
    const set = this.#later.get(key)
    if (set === undefined) return
    set.cancel()
    this.#later.delete(key)
  }

  #fill(): void {
    if (this.#paused) return
    while (this.#workers < this.#options.workersMax && this.#waiting.size > this.#starting) {
      this.#workers++
      this.#starting++
      void this.#run()
    }
  }

  async #run(): Promise<void> {
    await undefined
    this.#starting--
    let since = performance.now()
    for (const key of this.#waiting) {
      if (this.#options.signal.aborted) break
      this.#waiting.delete(key)
      this.#inWork.add(key)
      await this.#measured(key)
      this.#inWork.delete(key)
      if (this.#again.delete(key)) this.add(key)
      if (performance.now() - since < turnMsMax) continue
      await new Promise(setImmediate)
      since = performance.now()
    }
    this.#workers--
    if (this.#waiting.size > 0) this.#fill()
  }

  async #measured(key: string): Promise<void> {
    const { meter } = this.#options
    if (meter === undefined) return this.#work(key)
    const began = performance.now()
    meter.waiting(this.#waiting.size)
    const done = meter.began(began - (this.#addedAt.get(key) ?? began))
    this.#addedAt.delete(key)
    await this.#work(key)
    done()
  }

  async #work(key: string): Promise<void> {
    try {
      const again = await this.#options.work(key)
      this.#failures.delete(key)
      if (typeof again === 'number') this.addAfter(key, again, this.#options.clock)
    } catch (error) {
      if (this.#options.signal.aborted) return
      const failures = (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, failures)
      this.#options.report(key, error, failures)
      this.#options.meter?.retried()
      this.addAfter(key, waitAfter(failures, this.#backoff))
    }
  }

  #clear(): void {
    this.#waiting.clear()
    this.#options.meter?.waiting(0)
    this.#addedAt.clear()
    this.#again.clear()
    this.#failures.clear()
    for (const { cancel } of this.#later.values()) cancel()
    this.#later.clear()
  }
}
