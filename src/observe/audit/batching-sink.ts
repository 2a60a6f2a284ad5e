/**
 * Sends audit events in batches. Events wait until a batch is full or a timeout passes, and batches
 * obey the rate limit. If the buffer is full, further events are dropped and counted. No request
 * waits. On close, all buffered events are sent.
 */
import { timerMsMax } from '#base/clock.ts'
import { TokenBucket } from '#base/token-bucket.ts'
import type { AuditEvent } from './event.ts'
import type { AuditSink, Lost, RecordWriter } from './sink.ts'

export interface BatchingOptions {
  /** Limit of buffered events, in addition to the current batch. */
  readonly bufferMax: number
  readonly batchMax: number
  /** How long an event waits until its batch is full. */
  readonly waitMsMax: number
  /** The rate limit in batches per second, with a burst. Undefined: no limit. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined
  /**
   * Limit of concurrent batches: a slow response must not delay other batches. Files use 1, which
   * keeps their lines in order.
   */
  readonly underWayMax: number
  readonly lost: Lost
  readonly monotonicMs: () => number
}

export class BatchingSink implements AuditSink {
  readonly #writer: RecordWriter
  readonly #options: BatchingOptions
  #buffer: AuditEvent[] = []
  #timer: NodeJS.Timeout | undefined
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosing = false
  readonly #turns: TokenBucket | undefined

  constructor(writer: RecordWriter, options: BatchingOptions) {
    this.#writer = writer
    this.#options = options
    const { throttle, monotonicMs } = options
    this.#turns = throttle && new TokenBucket(throttle.perSecond, throttle.burst, monotonicMs())
  }

  take(event: AuditEvent): void {
    const { bufferMax, batchMax, waitMsMax, lost } = this.#options
    if (this.#isClosing || this.#buffer.length >= bufferMax + batchMax) {
      lost('buffered', 1, 'audit buffer queue blocked')
      return
    }
    this.#buffer.push(event)
    if (this.#buffer.length === batchMax) this.#flush()
    else if (this.#buffer.length < batchMax && this.#timer === undefined) this.#flushIn(waitMsMax)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#writer.hurry?.()
    this.#flush()
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
    await this.#writer.close()
  }

  #flushIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#flush(), Math.min(ms, timerMsMax))
    this.#timer.unref()
  }

  /** Starts as many batches as possible, and schedules the rest. */
  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { batchMax, underWayMax } = this.#options
    while (this.#buffer.length > 0 && this.#underWay.size < underWayMax) {
      const waitMs = this.#turnInMs()
      if (waitMs > 0) {
        this.#flushIn(waitMs)
        return
      }
      const written = this.#write(this.#buffer.splice(0, batchMax)).finally(() => {
        this.#underWay.delete(written)
        if (this.#buffer.length >= batchMax || this.#isClosing) this.#flush()
        else if (this.#buffer.length > 0 && this.#timer === undefined)
          this.#flushIn(this.#options.waitMsMax)
      })
      this.#underWay.add(written)
    }
  }

  async #write(batch: readonly AuditEvent[]): Promise<boolean> {
    return this.#writer.write(batch)
  }

  /**
   * Milliseconds until the next batch may start. With 0 the batch must start, because its token has
   * been taken. While the sink closes, the rate limit does not apply.
   */
  #turnInMs(): number {
    const turns = this.#isClosing ? undefined : this.#turns
    if (turns === undefined || turns.take(this.#options.monotonicMs())) return 0
    return turns.nextInMs
  }
}
