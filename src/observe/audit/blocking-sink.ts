/**
 * Records that their requests wait for, one by one. A strict one says where a record is not kept,
 * so that its request is refused; otherwise the loss is counted and the request goes on.
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
