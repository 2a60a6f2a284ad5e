/**
 * Truncates large audit events: removes the request and response objects and adds an annotation.
 * Events that are still too large are dropped and counted.
 */
import type { Awaitable } from '#base/awaitable.ts'
import { type AuditEvent, eventJson } from './event.ts'
import type { AuditVersion } from './policy.ts'
import type { AuditSink, Lost } from './sink.ts'

const truncated = 'audit.k8s.io/truncated'

const hasObjects = ({ level }: AuditEvent) => level === 'Request' || level === 'RequestResponse'

export class TruncatingSink implements AuditSink {
  readonly #sink: AuditSink
  readonly #eventBytesMax: number
  readonly #version: AuditVersion
  readonly #lost: Lost

  constructor(sink: AuditSink, version: AuditVersion, eventBytesMax: number, lost: Lost) {
    this.#sink = sink
    this.#version = version
    this.#eventBytesMax = eventBytesMax
    this.#lost = lost
  }

  /** The size as one line of JSON, in any log format. */
  #fits(event: AuditEvent): boolean {
    return Buffer.byteLength(eventJson(event, this.#version)) + 1 <= this.#eventBytesMax
  }

  take(event: AuditEvent): void | Awaitable<boolean> {
    const isLarge = !this.#fits(event)
    const kept = isLarge && hasObjects(event) ? withoutObjects(event) : event
    if (isLarge && !this.#fits(kept))
      this.#lost('truncate', 1, 'event is too large even after truncating')
    else return this.#sink.take(kept)
  }

  close(): Promise<void> {
    return this.#sink.close()
  }
}

function withoutObjects(event: AuditEvent): AuditEvent {
  const { requestObject: _, responseObject: __, annotations, ...rest } = event
  const names = Object.entries({ ...annotations, [truncated]: 'true' }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  return { ...rest, annotations: Object.fromEntries(names) }
}
