/**
 * Records sent to another service, many at a time. They wait in a buffer for their batch; when the buffer is full, further
 * ones are lost and counted. A batch that cannot be delivered is tried again, at growing intervals, and then lost.
 */
import { type AuditEvent, type AuditVersion, eventJson } from './event.ts'
import type { AuditSink, Lost } from './sink.ts'

export interface WebhookSinkOptions {
  /** Sends one EventList; rejects where it did not arrive. */
  readonly post: (body: string) => Promise<void>
  readonly version: AuditVersion
  readonly bufferMax: number
  readonly batchMax: number
  readonly waitMsMax: number
  readonly firstDelayMs: number
  readonly lost: Lost
  readonly random: () => number
}

/** Tries of one batch, each later than the one before by this factor. */
const attempts = 5
const factor = 1.5
/** Batches under way at once: one slow answer must not hold up the others. */
const underWayMax = 10

export class WebhookSink implements AuditSink {
  readonly #options: WebhookSinkOptions
  #buffer: AuditEvent[] = []
  #timer: NodeJS.Timeout | undefined
  readonly #underWay = new Set<Promise<void>>()
  #closing = false

  constructor(options: WebhookSinkOptions) {
    this.#options = options
  }

  take(event: AuditEvent): void {
    const { bufferMax, batchMax, waitMsMax, lost } = this.#options
    if (this.#closing || this.#buffer.length >= bufferMax) {
      lost('buffered', 1, 'audit buffer queue blocked')
      return
    }
    this.#buffer.push(event)
    if (this.#buffer.length >= batchMax) this.#flush()
    else if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#flush(), waitMsMax)
      this.#timer.unref()
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#flush()
    while (this.#underWay.size > 0) {
      await Promise.all(this.#underWay)
      this.#flush()
    }
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { batchMax } = this.#options
    while (this.#buffer.length > 0 && this.#underWay.size < underWayMax) {
      const batch = this.#buffer.splice(0, batchMax)
      const sent = this.#send(batch).finally(() => {
        this.#underWay.delete(sent)
        if (this.#buffer.length >= batchMax || this.#closing) this.#flush()
      })
      this.#underWay.add(sent)
    }
    if (this.#buffer.length > 0 && !this.#closing) {
      this.#timer = setTimeout(() => this.#flush(), this.#options.waitMsMax)
      this.#timer.unref()
    }
  }

  async #send(batch: readonly AuditEvent[]): Promise<void> {
    const { post, version, firstDelayMs, lost, random } = this.#options
    const items = batch.map((event) => eventJson(event, version)).join(',')
    const body = `{"kind":"EventList","apiVersion":"${version}","metadata":{},"items":[${items}]}\n`
    let delayMs = firstDelayMs
    for (let attempt = 1; ; attempt++) {
      try {
        return await post(body)
      } catch (error) {
        if (attempt >= attempts || this.#closing) {
          lost('webhook', batch.length, (error as Error).message)
          return
        }
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs * (1 + 0.2 * random())).unref())
      delayMs *= factor
    }
  }
}
