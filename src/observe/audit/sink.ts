/**
 * An audit backend has two parts: a sink, which buffers or blocks according to the mode flag, and a
 * writer, which sends the events.
 */
import type { Awaitable } from '#base/awaitable.ts'
import type { AuditEvent } from './event.ts'

/** Accepts events and passes them to a writer. It counts and reports the events that it drops. */
export interface AuditSink {
  /**
   * In blocking mode: whether the event was written; the caller waits and rejects the request if
   * not. In other modes: undefined.
   */
  take(event: AuditEvent): void | Awaitable<boolean>
  /** Writes the buffered events, as far as possible. */
  close(): Promise<void>
}

/** Writes events to the log file or the webhook. */
export interface RecordWriter {
  /**
   * Returns true if all events were written. Events that failed are counted. The promise never
   * rejects.
   */
  write(events: readonly AuditEvent[]): Awaitable<boolean>
  /** The server is stopping: the writer must not wait for retries. */
  hurry?(): void
  close(): Promise<void>
}

/**
 * Reports lost events. `plugin` is the sink: log, webhook, or buffered if the event never reached
 * its sink.
 */
export type Lost = (plugin: string, count: number, why: string) => void
