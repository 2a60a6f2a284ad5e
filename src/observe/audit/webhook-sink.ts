/**
 * Sends audit events to another service. A failed batch is retried with increasing delays, and then
 * lost.
 */
import { type AuditEvent, eventJson } from './event.ts'
import type { AuditVersion } from './policy.ts'
import type { Lost, RecordWriter } from './sink.ts'

export interface WebhookSinkOptions {
  /** Sends one EventList; rejects if that failed. */
  readonly post: (body: string) => Promise<void>
  readonly version: AuditVersion
  readonly firstDelayMs: number
  readonly lost: Lost
  readonly random: () => number
}

/** Number of attempts for one batch. Each delay is longer than the previous one by this factor. */
const attempts = 5
const factor = 1.5

export class WebhookSink implements RecordWriter {
  readonly #options: WebhookSinkOptions
  /** Functions that end the delay of each batch that waits for a retry. */
  readonly #paused = new Set<() => void>()
  #isHurried = false

  constructor(options: WebhookSinkOptions) {
    this.#options = options
  }

  /** Retries waiting batches immediately, for the last time. */
  hurry(): void {
    this.#isHurried = true
    for (const wake of this.#paused) wake()
  }

  async close(): Promise<void> {}

  async write(batch: readonly AuditEvent[]): Promise<boolean> {
    const { post, version, firstDelayMs, lost, random } = this.#options
    const items = batch.map((event) => eventJson(event, version)).join(',')
    const body = `{"kind":"EventList","apiVersion":"${version}","metadata":{},"items":[${items}]}\n`
    let delayMs = firstDelayMs
    for (let attempt = 1; ; attempt++) {
      try {
        await post(body)
        return true
      } catch (error) {
        if (attempt >= attempts || this.#isHurried) {
          lost('webhook', batch.length, (error as Error).message)
          return false
        }
      }
      await this.#pause(delayMs * (1 + 0.2 * random()))
      delayMs *= factor
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#paused.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      timer.unref()
      this.#paused.add(wake)
    })
  }
}
