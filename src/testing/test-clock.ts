/**
 * The clock of a test cluster. It equals the machine's clock until a test freezes it or moves it
 * forward. It determines all times that the cluster writes, and all delays of its store and
 * controllers. Timeouts of requests and connections use real time.
 */
import { type Cancel, systemClock, type TimerClock, timerMsMax } from '#base/clock.ts'

/** The offset from the machine's clock, and the time at which it is frozen, if any. */
export interface ClockState {
  readonly aheadMs: number
  readonly frozenAtMs: number | undefined
}

interface Timer {
  dueMs: number
  readonly everyMs: number | undefined
  readonly call: () => void
}

/** The wall-clock time at which the `elapsed` time of the machine's clock was 0. */
const systemStartMs = systemClock.now() - systemClock.elapsed()

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
/** Turns of the event loop between two timers, for the work that a timer starts. */
const turnsPerTimer = 20

/** Parses `1500`, `90s`, `1h30m` or `2d` to milliseconds. */
export function durationMs(duration: number | string): number {
  if (typeof duration === 'number') return duration
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== duration)
    throw new TypeError(`${JSON.stringify(duration)} is no duration: use 90s, 1h30m or 2d`)
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitsMs[unit] ?? 0), 0)
}

export class TestClock implements TimerClock {
  #aheadMs = 0
  #frozenAtMs: number | undefined
  readonly #timers = new Set<Timer>()
  #cancelNext: Cancel = () => {}

  constructor(state: ClockState = { aheadMs: 0, frozenAtMs: undefined }) {
    this.state = state
  }

  /** Milliseconds since 1970. */
  now(): number {
    return Math.floor(systemStartMs + this.elapsed())
  }

  elapsed(): number {
    return this.#frozenAtMs ?? systemClock.elapsed() + this.#aheadMs
  }

  get isFrozen(): boolean {
    return this.#frozenAtMs !== undefined
  }

  /** Stops the clock, now or at a given time: `clock.freeze('2026-01-01T00:00:00Z')`. */
  freeze(at?: string | number | Date): void {
    this.#frozenAtMs = at === undefined ? this.elapsed() : new Date(at).getTime() - systemStartMs
    if (Number.isNaN(this.#frozenAtMs)) throw new TypeError(`${String(at)} is no time`)
    this.#arm()
  }

  /** Lets the clock run again from its current time. */
  resume(): void {
    if (this.#frozenAtMs === undefined) return
    this.#aheadMs = this.#frozenAtMs - systemClock.elapsed()
    this.#frozenAtMs = undefined
    this.#arm()
  }

  /** Moves the clock forward. Due timers run in order, each at its own time. */
  async advance(duration: number | string): Promise<void> {
    const ms = durationMs(duration)
    if (!(ms >= 0)) throw new RangeError('a clock moves forward only')
    const wasFrozen = this.isFrozen
    this.freeze()
    const endMs = this.elapsed() + ms
    for (let next = this.#nextUntil(endMs); next !== undefined; next = this.#nextUntil(endMs)) {
      this.#frozenAtMs = Math.max(next.dueMs, this.elapsed())
      this.#run(next)
      for (let turn = 0; turn < turnsPerTimer; turn++) await new Promise(setImmediate)
    }
    this.#frozenAtMs = endMs
    if (!wasFrozen) this.resume()
  }

  get state(): ClockState {
    return { aheadMs: this.#aheadMs, frozenAtMs: this.#frozenAtMs }
  }

  set state({ aheadMs, frozenAtMs }: ClockState) {
    this.#aheadMs = aheadMs
    this.#frozenAtMs = frozenAtMs
    this.#arm()
  }

  after(ms: number, call: () => void): Cancel {
    return this.#add({ dueMs: this.elapsed() + ms, everyMs: undefined, call })
  }

  every(ms: number, call: () => void): Cancel {
    return this.#add({ dueMs: this.elapsed() + ms, everyMs: ms, call })
  }

  #add(timer: Timer): Cancel {
    this.#timers.add(timer)
    this.#arm()
    return () => {
      if (this.#timers.delete(timer)) this.#arm()
    }
  }

  #nextUntil(endMs: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers)
      if (timer.dueMs <= endMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer
    return next
  }

  #run(timer: Timer): void {
    if (timer.everyMs === undefined) this.#timers.delete(timer)
    else timer.dueMs += timer.everyMs
    timer.call()
  }

  /** Waits in real time for the next timer, unless the clock is frozen. */
  #arm(): void {
    this.#cancelNext()
    this.#cancelNext = () => {}
    if (this.isFrozen) return
    const next = this.#nextUntil(Number.POSITIVE_INFINITY)
    if (next === undefined) return
    const waitMs = Math.min(Math.max(next.dueMs - this.elapsed(), 0), timerMsMax)
    this.#cancelNext = systemClock.after(waitMs, () => {
      const nowMs = this.elapsed()
      for (let due = this.#nextUntil(nowMs); due !== undefined; due = this.#nextUntil(nowMs))
        this.#run(due)
      this.#arm()
    })
  }
}
