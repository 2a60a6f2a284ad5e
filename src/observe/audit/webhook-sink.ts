/** Records sent to another service. A batch that cannot be delivered is tried again, at growing intervals, and then lost. */
import { type AuditEvent, type AuditVersion, eventJson } from './event.ts'
import type { Lost, RecordWriter } from './sink.ts'

export interface WebhookSinkOptions {
  /** Sends one EventList; rejects where it did not arrive. */
  readonly post: (body: string) => Promise<void>
  readonly version: AuditVersion
  readonly firstDelayMs: number
  readonly lost: Lost
  readonly random: () => number
}

/** Tries of one batch, each later than the one before by this factor. */
const attempts = 5
const factor = 1.5

export class WebhookSink implements RecordWriter {
  readonly #options: WebhookSinkOptions
  readonly #hurry = Promise.withResolvers<void>()
  #isHurried = false

  constructor(options: WebhookSinkOptions) {
    this.#options = options
  }

  /** What waits to be tried again is tried now, for the last time. */
  hurry(): void {
    this.#isHurried = true
    this.#hurry.resolve()
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
      const pause = new Promise<void>((resolve) =>
        setTimeout(resolve, delayMs * (1 + 0.2 * random())).unref(),
      )
      await Promise.race([pause, this.#hurry.promise])
      delayMs *= factor
    }
  }
}
