/** Where records go. A sink takes a record and never waits; what it cannot keep it loses, and says how many. */
import type { AuditEvent } from './event.ts'

export interface AuditSink {
  take(event: AuditEvent): void
  /** Writes what is left, as far as it can. */
  close(): Promise<void>
}

/** `plugin` names the sink: log, webhook, or buffered where a record never reached its sink. */
export type Lost = (plugin: string, count: number, why: string) => void
