/**
 * Gives each request a seat of its priority level before any other work. If a seat is free, the
 * request continues at once. Otherwise it waits in a queue, or is rejected with a Retry-After. A
 * watch holds its seat only until it has started.
 */
import type { AnswerHeaders, Exchange, Seat } from '#http/exchange.ts'
import type { Observer } from '#http/parts.ts'
import type { FlowControl, Schema } from '#observe/fairness/flow-control.ts'
import type { QueueRejection } from '#observe/fairness/queue-set.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import { type InFlightMark, type RequestKind, requestKind } from './in-flight-mark.ts'
import { rejectForNow } from './too-many-requests.ts'
import { isLongRunning } from './request-place.ts'

export interface FairnessParts {
  readonly flows: FlowControl
  readonly running: InFlightMark
  readonly waiting: InFlightMark
  readonly metrics: ServerMetrics
  readonly monotonicMs: () => number
}

class FlowSeat implements Seat {
  readonly headers: AnswerHeaders
  readonly #parts: FairnessParts
  readonly #schema: Schema
  readonly #kind: RequestKind
  readonly #queueIndex: number
  readonly #beganAtMs: number
  readonly #isWatch: boolean
  #taken = true

  constructor(
    parts: FairnessParts,
    schema: Schema,
    kind: RequestKind,
    queueIndex: number,
    nowMs: number,
    isWatch: boolean,
  ) {
    this.#parts = parts
    this.#schema = schema
    this.#kind = kind
    this.#queueIndex = queueIndex
    this.#beganAtMs = nowMs
    this.#isWatch = isWatch
    this.headers = schema.headers
    schema.meter.dispatched.value++
    schema.meter.executing.value++
    parts.running.add(kind, 1, nowMs)
  }

  release(): void {
    if (!this.#taken) return
    this.#taken = false
    const { running, flows, monotonicMs } = this.#parts
    const nowMs = monotonicMs()
    const tookMs = nowMs - this.#beganAtMs
    const { meter, level } = this.#schema
    meter.executing.value--
    const durations = this.#isWatch ? meter.watchSeconds : meter.executionSeconds
    durations.observe(tookMs / 1000)
    running.add(this.#kind, -1, nowMs)
    if (level.queues === undefined) return
    level.queues.leave(this.#queueIndex, tookMs, nowMs)
    flows.left(level, nowMs)
  }
}

/** The seat of a rejected request: nothing to release, but the response names the schema. */
const noSeat = (headers: AnswerHeaders): Seat => ({ headers, release() {} })

export function fairnessObserver(parts: FairnessParts): Observer {
  const { flows, monotonicMs } = parts
  return {
    begin(exchange) {
      const { target, user, startedAt } = exchange
      if (target.verb !== 'watch' && isLongRunning(target)) return
      const schema = flows.classify(user, target)
      const { queues } = schema.level
      const kind = requestKind(target.verb)
      const isWatch = target.verb === 'watch'
      if (queues === undefined) {
        exchange.seat = new FlowSeat(parts, schema, kind, -1, startedAt, isWatch)
        return
      }
      const entered = queues.enter(
        flows.flowOf(schema, user, target),
        startedAt,
        exchange,
        () => exchange.wire.signal,
      )
      if (typeof entered === 'number') {
        exchange.seat = new FlowSeat(parts, schema, kind, entered, startedAt, isWatch)
        schema.meter.waitSeconds.observe(0)
        return
      }
      if (typeof entered === 'string') return refuse(exchange, schema, entered, 0)
      schema.meter.inQueue.value++
      schema.meter.enqueued(queues.waiting)
      parts.waiting.add(kind, 1, startedAt)
      return entered.then((outcome) => {
        const nowMs = monotonicMs()
        schema.meter.inQueue.value--
        parts.waiting.add(kind, -1, nowMs)
        if (typeof outcome === 'string') return refuse(exchange, schema, outcome, nowMs - startedAt)
        exchange.seat = new FlowSeat(parts, schema, kind, outcome, nowMs, isWatch)
        schema.meter.waitSeconds.observe((nowMs - startedAt) / 1000)
      })
    },
    end: (exchange) => exchange.seat?.release(),
  }

  function refuse(
    exchange: Exchange,
    schema: Schema,
    why: QueueRejection,
    waitedMs: number,
  ): never {
    schema.meter.refused(why, waitedMs)
    exchange.seat = noSeat(schema.headers)
    throw rejectForNow(exchange, parts.metrics)
  }
}
