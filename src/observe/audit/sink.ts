/**
 * Where records go, and how: by one that writes them, and by what stands before it, which the mode
 * of the flags decides.
 */
import type { Awaitable } from '#base/awaitable.ts'
import type { AuditEvent } from './event.ts'

/** What stands before a writer. What it cannot keep it loses, and says how many. */
export interface AuditSink {
  /**
   * Whether the record is kept, if the caller must wait for that or be rejected; else undefined.
   */
  take(event: AuditEvent): void | Awaitable<boolean>
  /** Writes what is left, as far as it can. */
  close(): Promise<void>
}

/** Brings records to where they are kept. */
export interface RecordWriter {
  /** Whether all of them are kept; those that are not were counted. It never rejects. */
  write(events: readonly AuditEvent[]): Awaitable<boolean>
  /** The server ends: nothing is to be waited for that may not come. */
  hurry?(): void
  close(): Promise<void>
}

/** `plugin` names the sink: log, webhook, or buffered where a record never reached its sink. */
export type Lost = (plugin: string, count: number, why: string) => void
