/**
 * The contract of storage: revisioned bytes under ordered keys. Memory, SQLite and etcd pass one
 * suite (storage.suite.ts). Storage never looks inside a value. A lost race is a value, never an
 * exception; what is thrown is one of the errors below.
 *
 * Guarantees, each with a test of its name in the suite:
 *   durable      when put or delete resolves, the change survives kill -9
 *   ordered      revisions grow by the order of commits; the feed delivers them in that order
 *   complete     the feed misses nothing after the requested revision and repeats nothing
 *   atomic       what one transaction wrote arrives in one batch of the feed
 *   current      after put resolves, currentRevision() is at least its revision
 */

/** A safe integer. The first write of a store has a revision greater than 0. */
export type Revision = number

export interface Stored {
  readonly key: string
  readonly bytes: Buffer
  /** The revision of the last write of this key. */
  readonly revision: Revision
}

/** Keys from `start` (included) to `end` (excluded), compared as UTF-8 bytes. */
export interface KeyRange {
  readonly start: string
  readonly end: string
}

/** What was read and the revision of the store it was read at. */
export interface AtRevision<T> {
  readonly revision: Revision
  readonly value: T
}

export interface Page {
  readonly items: Stored[]
  /** Whether keys of the range remain after the last item. */
  readonly more: boolean
  /** How many of the range remain after the last item. */
  readonly remaining: number
}

export type Outcome =
  | { readonly ok: true; readonly revision: Revision }
  | { readonly ok: false; readonly current: Stored | undefined }

export interface Change {
  readonly key: string
  readonly revision: Revision
  /**
   * The bytes written; undefined for a deletion. For own writes this is the very Buffer that was
   * given to put.
   */
  readonly bytes: Buffer | undefined
}

/** The size of all their values. */
export function sizeBytes(changes: readonly Change[]): number {
  let size = 0
  for (const change of changes) size += change.bytes?.length ?? 0
  return size
}

export interface WriteDeadline {
  /**
   * When a store that cannot be reached is no longer waited for, as `performance.now()`; absent: as
   * for a read.
   */
  readonly deadlineAt?: number | undefined
}

export interface PutCondition extends WriteDeadline {
  /** 0: the key must not exist. Otherwise: the key's last write must have this revision. */
  readonly ifRevision: Revision
  /** The key is deleted by the store this long after the write, as a deletion on the feed. */
  readonly ttlSeconds?: number
}

export interface DeleteCondition extends WriteDeadline {
  readonly ifRevision: Revision
}

export interface Storage {
  get(key: string, at?: Revision): Promise<AtRevision<Stored | undefined>>
  list(range: KeyRange, options?: { at?: Revision; limit?: number }): Promise<AtRevision<Page>>
  count(range: KeyRange): Promise<AtRevision<number>>
  put(key: string, bytes: Buffer, condition: PutCondition): Promise<Outcome>
  delete(key: string, condition: DeleteCondition): Promise<Outcome>
  /**
   * Everything after a revision, then everything that follows, until the signal aborts (the
   * iteration then ends without an error). Batches are whole revisions. Throws RevisionCompacted
   * where the start is no longer kept, and RevisionSetBack where a store that others may restore
   * turns out to be older than what was delivered. `progress` receives a revision when everything
   * up to it has been delivered and no change reported it: revisions of etcd also count writes
   * outside the feed's range. It is called only while the iteration waits for its next batch.
   */
  changes(options: {
    after: Revision
    signal: AbortSignal
    progress?: (revision: Revision) => void
  }): AsyncIterable<Change[]>
  /** The newest revision. Local stores answer at once; etcd needs a linearizable read. */
  currentRevision(): Revision | Promise<Revision>
  /**
   * Forgets history up to and including a revision: reads at older revisions throw
   * RevisionCompacted.
   */
  compact(upTo: Revision): Promise<void>
  /**
   * Up to where history is forgotten, as far as is known here: another server on the same etcd may
   * have compacted further.
   */
  compactedUpTo(): Revision
  /**
   * A clear reason while the store cannot take writes (disk full, etcd away); undefined when it is
   * well. An etcd whose database is full is well: it takes deletions, which make room, and they
   * must find a server that is ready.
   */
  trouble(): string | undefined
  /**
   * How many bytes the file of each of its servers has, by their names; -1 where one does not say.
   */
  sizes?(): Promise<ReadonlyMap<string, number>>
  close(): Promise<void>
}

/** A read or feed from a revision that is no longer kept. */
export class RevisionCompacted extends Error {
  override name = 'RevisionCompacted'
  readonly compactedUpTo: Revision
  constructor(compactedUpTo: Revision) {
    super(`the requested revision has been compacted (history starts after ${compactedUpTo})`)
    this.compactedUpTo = compactedUpTo
  }
}

/** A read at a revision that the store has not reached. */
export class RevisionInFuture extends Error {
  override name = 'RevisionInFuture'
  readonly current: Revision
  constructor(current: Revision) {
    super(`the requested revision is in the future (the store is at ${current})`)
    this.current = current
  }
}

/**
 * The store is older than it was, as one restored from a copy is: nothing that was known of it
 * holds.
 */
export class RevisionSetBack extends Error {
  override name = 'RevisionSetBack'
  constructor(current: Revision, known: Revision) {
    super(`the store is at revision ${current} and was at ${known}: it was set back`)
  }
}

/**
 * The store cannot answer now: disk full, etcd away, closed. The message says why, for the client.
 */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable'
}

/**
 * A value that is there and cannot be read; the message says why. It is not absent: a caller that
 * treated it as absent would create it again, or delete its dependents.
 */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

export const asUnreadable = (error: unknown): Unreadable =>
  error instanceof Unreadable ? error : new Unreadable((error as Error).message, { cause: error })

/**
 * A value that no key of a sealed store opens. It is returned as it is stored, and marked; decoding
 * it throws this error. Other objects of the same list are unaffected.
 */
export class Unopened extends Unreadable {
  override name = 'Unopened'
}

const unopened = new WeakMap<Buffer, string>()

export function markUnopened(bytes: Buffer, why: string): void {
  unopened.set(bytes, why)
}

/** What every sealed value begins with, and no other. */
const sealedMark = Buffer.from('k8s:enc:')

export const isSealed = (bytes: Buffer): boolean =>
  bytes[0] === sealedMark[0] && bytes.subarray(0, sealedMark.length).equals(sealedMark)

/**
 * Also without an attempt to open it: a sealed value of a resource that is configured as plain must
 * not seem to be missing.
 */
export const whyUnopened = (bytes: Buffer): string | undefined =>
  unopened.get(bytes) ??
  (isSealed(bytes) ? 'identity transformer tried to read encrypted data' : undefined)

export function requireOpened(bytes: Buffer): void {
  const why = whyUnopened(bytes)
  if (why !== undefined) throw new Unopened(why)
}

/** What a list that a value is in says of it. */
export const amongOthers = (key: string, error: Unreadable): Unreadable =>
  error instanceof Unopened
    ? new Unopened(`unable to transform key ${JSON.stringify(key)}: ${error.message}`)
    : error

const stale = new WeakSet<Buffer>()

export function markStale(bytes: Buffer): void {
  stale.add(bytes)
}

/**
 * Whether a value was opened by another key than the one that seals: a write of the same bytes
 * changes what is stored.
 */
export const isStale = (bytes: Buffer): boolean => stale.has(bytes)

/** The range of all keys that begin with a prefix. */
export function prefixRange(prefix: string): KeyRange {
  const last = prefix.charCodeAt(prefix.length - 1)
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) }
}
