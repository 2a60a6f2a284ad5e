/**
 * The running and waiting requests of one priority level. Up to `concurrency` requests run; more
 * wait in queues. When a request ends, the queue with the least service so far is served next (fair
 * queuing). If no request waits, a request runs at once without a promise.
 *
 * The service that a queue has received is measured in virtual seconds. A request is charged an
 * estimate when it starts and the real duration when it ends. An idle queue restarts at the current
 * virtual time, so that a flow cannot save up service.
 */
export interface QueueLimits {
  /** The number of concurrent requests. */
  readonly concurrency: number
  /** 0: requests beyond the limit are rejected instead of queued. */
  readonly queues: number
  readonly queueLengthMax: number
  /** The maximum time that a request waits. */
  readonly waitMsMax: number
}

export type QueueRejection = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

/** The queues of one flow. */
export interface QueuedFlow {
  /** Indexes of the queues that the flow may use. Empty if the level has no queues. */
  readonly hand: readonly number[]
}

export interface Waiting<Flow> {
  readonly flow: Flow
  readonly queueIndex: number
  readonly arrivedAtMs: number
  /** The request, for debug pages. */
  readonly about: unknown
}

interface Waiter<Flow> extends Waiting<Flow> {
  readonly settle: (outcome: number | QueueRejection) => void
}

interface Queue<Flow> {
  waiting: Waiter<Flow>[]
  executing: number
  virtualStart: number
}

/** Estimated duration of a request in seconds. */
const guessSeconds = 0.003

export class QueueSet<Flow extends QueuedFlow> {
  #limits: QueueLimits
  /** Created with the first request of the level, because many levels never get one. */
  #queues: Queue<Flow>[] = []
  #executing = 0
  #waiting = 0
  /** Queues with running or waiting requests. */
  #active = 0
  #virtualSeconds = 0
  #movedAtMs = 0
  #served = 0
  readonly #after: (ms: number, call: () => void) => () => void

  /** `after` calls a function later, and returns a function that cancels the call. */
  constructor(limits: QueueLimits, after: (ms: number, call: () => void) => () => void) {
    this.#limits = limits
    this.#after = after
  }

  get limits(): QueueLimits {
    return this.#limits
  }

  get executing(): number {
    return this.#executing
  }

  get waiting(): number {
    return this.#waiting
  }

  get queues(): readonly {
    readonly waiting: readonly Waiting<Flow>[]
    executing: number
    virtualStart: number
  }[] {
    this.#grow()
    return this.#queues
  }

  get isIdle(): boolean {
    return this.#executing === 0 && this.#waiting === 0
  }

  reconfigure(limits: QueueLimits, nowMs: number): void {
    this.#limits = limits
    this.#shrink()
    this.#dispatch(nowMs)
  }

  /**
   * Returns the queue index for `leave` if the request runs at once. Otherwise the request waits or
   * is rejected.
   */
  enter(
    flow: Flow,
    nowMs: number,
    about: unknown,
    signal?: () => AbortSignal,
  ): number | QueueRejection | Promise<number | QueueRejection> {
    const { concurrency, queues, queueLengthMax, waitMsMax } = this.#limits
    if (queues === 0) {
      if (this.#executing >= concurrency) return 'concurrency-limit'
      this.#executing++
      return -1
    }
    this.#grow()
    this.#moveTo(nowMs)
    const index = this.#choose(flow.hand)
    const queue = this.#queues[index]
    if (this.#waiting === 0 && this.#executing < concurrency) {
      this.#activate(queue)
      this.#start(queue)
      return index
    }
    if (queue.waiting.length >= queueLengthMax && this.#executing >= concurrency)
      return 'queue-full'
    return new Promise((resolve) => {
      let undo = () => {}
      const waiter: Waiter<Flow> = {
        flow,
        queueIndex: index,
        arrivedAtMs: nowMs,
        about,
        settle(outcome) {
          undo()
          resolve(outcome)
        },
      }
      const withdraw = (why: QueueRejection) => {
        queue.waiting.splice(queue.waiting.indexOf(waiter), 1)
        this.#waiting--
        this.#deactivate(queue)
        waiter.settle(why)
      }
      const cancelTimer = this.#after(waitMsMax, () => withdraw('time-out'))
      const gone = () => withdraw('cancelled')
      const client = signal?.()
      client?.addEventListener('abort', gone, { once: true })
      undo = () => {
        cancelTimer()
        client?.removeEventListener('abort', gone)
      }
      this.#activate(queue)
      queue.waiting.push(waiter)
      this.#waiting++
      this.#dispatch(nowMs)
    })
  }

  leave(queueIndex: number, tookMs: number, nowMs: number): void {
    this.#executing--
    const queue = this.#queues[queueIndex]
    if (queue !== undefined) {
      this.#moveTo(nowMs, 1)
      queue.executing--
      queue.virtualStart += tookMs / 1000 - guessSeconds
      this.#deactivate(queue)
    }
    if (this.#waiting > 0) this.#dispatch(nowMs)
  }

  #activate(queue: Queue<Flow>): void {
    if (queue.executing > 0 || queue.waiting.length > 0) return
    this.#active++
    queue.virtualStart = this.#virtualSeconds
  }

  #deactivate(queue: Queue<Flow>): void {
    if (queue.executing === 0 && queue.waiting.length === 0) this.#active--
  }

  #start(queue: Queue<Flow>): void {
    queue.executing++
    queue.virtualStart += guessSeconds
    this.#executing++
  }

  /** Selects the queue with the fewest waiting requests, then with the fewest running ones. */
  #choose(hand: readonly number[]): number {
    let best = hand[0] ?? 0
    for (const index of hand) {
      const one = this.#queues[index]
      const other = this.#queues[best]
      const shorter = one.waiting.length - other.waiting.length || one.executing - other.executing
      if (shorter < 0) best = index
    }
    return best
  }

  #dispatch(nowMs: number): void {
    this.#moveTo(nowMs)
    while (this.#waiting > 0 && this.#executing < this.#limits.concurrency) {
      const index = this.#next()
      const queue = this.#queues[index]
      const waiter = queue.waiting.shift() as Waiter<Flow>
      this.#waiting--
      this.#start(queue)
      waiter.settle(index)
    }
  }

  /** Selects by round robin among equal queues. */
  #next(): number {
    const count = this.#queues.length
    let best = -1
    for (let step = 1; step <= count; step++) {
      const index = (this.#served + step) % count
      const queue = this.#queues[index]
      if (queue.waiting.length === 0) continue
      if (best === -1 || queue.virtualStart < this.#queues[best].virtualStart) best = index
    }
    this.#served = best
    return best
  }

  /** Virtual time advances as fast as each busy queue would be served with equal shares. */
  #moveTo(nowMs: number, justEnded = 0): void {
    const passed = (nowMs - this.#movedAtMs) / 1000
    this.#movedAtMs = nowMs
    if (passed <= 0 || this.#active === 0) return
    const requests = this.#executing + justEnded + this.#waiting
    this.#virtualSeconds += (passed * Math.min(requests, this.#limits.concurrency)) / this.#active
  }

  #grow(): void {
    while (this.#queues.length < this.#limits.queues) {
      this.#queues.push({ waiting: [], executing: 0, virtualStart: 0 })
    }
  }

  /** Removes surplus queues once they are empty. Until then they are served like all others. */
  #shrink(): void {
    for (;;) {
      const last = this.#queues.at(-1)
      if (this.#queues.length <= this.#limits.queues || last === undefined) return
      if (last.executing > 0 || last.waiting.length > 0) return
      this.#queues.pop()
    }
  }
}
