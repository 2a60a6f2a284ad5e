/**
 * Writes each audit event while its request waits. In strict mode a failed write rejects the
 * request. Otherwise the failure is counted and the request continues.
 */
import { after, type Awaitable } from '#base/awaitable.ts'
import type { AuditEvent } from './event.ts'
import type { AuditSink, RecordWriter } from './sink.ts'

export class BlockingSink implements AuditSink {
  readonly #writer: RecordWriter
  readonly #isStrict: boolean

  constructor(writer: RecordWriter, isStrict: boolean) {
    this.#writer = writer
    this.#isStrict = isStrict
  }

  take(event: AuditEvent): Awaitable<boolean> {
    return after(this.#writer.write([event]), (isKept) => isKept || !this.#isStrict)
  }

  close(): Promise<void> {
    return this.#writer.close()
  }
}
