/**
 * The contract of storage: revisioned bytes under ordered keys. Memory, SQLite and etcd pass one
 * suite (storage.suite.ts). Storage never interprets a value. A lost race is a returned value;
 * exceptions are the errors below.
 *
 * Guarantees, each with a test of its name in the suite:
 *   durable      when put or delete resolves, the change survives kill -9
 *   ordered      revisions grow by the order of commits; the feed delivers them in that order
 *   complete     the feed misses nothing after the requested revision and repeats nothing
 *   atomic       the changes of one transaction arrive in one batch of the feed
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

/** The result of a read, and the revision at which it was read. */
export interface AtRevision<T> {
  readonly revision: Revision
  readonly value: T
}

export interface Page {
  readonly items: Stored[]
  /** Whether keys of the range remain after the last item. */
  readonly more: boolean
  /** The number of keys in the range after the last item. */
  readonly remaining: number
}

export type Outcome =
  | { readonly ok: true; readonly revision: Revision }
  | { readonly ok: false; readonly current: Stored | undefined }

export interface Change {
  readonly key: string
  readonly revision: Revision
  /**
   * The written bytes; undefined for a deletion. For own writes this is the Buffer that was passed
   * to put.
   */
  readonly bytes: Buffer | undefined
}

/** The size of all values. */
export function sizeBytes(changes: readonly Change[]): number {
  let size = 0
  for (const change of changes) size += change.bytes?.length ?? 0
  return size
}

export interface WriteDeadline {
  /**
   * Until when to wait for an unreachable store, as `performance.now()`. If absent, the timeout of
   * reads applies.
   */
  readonly deadlineAt?: number | undefined
}

export interface PutCondition extends WriteDeadline {
  /** 0: the key must not exist. Otherwise: the key's last write must have this revision. */
  readonly ifRevision: Revision
  /** The store deletes the key this long after the write; the feed delivers the deletion. */
  readonly ttlSeconds?: number
  /** No other write of any client has these bytes: they contain a new UID. */
  readonly isUnique?: boolean
}

export interface DeleteCondition extends WriteDeadline {
  readonly ifRevision: Revision
}

/**
 * Identifies the keys and values of several stores at a revision. Forks of one store have the same
 * value if they were taken without a write in between.
 */
export interface StoreState {
  readonly revision: Revision
}

export interface Storage {
  get(key: string, at?: Revision): Promise<AtRevision<Stored | undefined>>
  list(range: KeyRange, options?: { at?: Revision; limit?: number }): Promise<AtRevision<Page>>
  count(range: KeyRange): Promise<AtRevision<number>>
  put(key: string, bytes: Buffer, condition: PutCondition): Promise<Outcome>
  delete(key: string, condition: DeleteCondition): Promise<Outcome>
  /**
   * Delivers all changes after a revision, in batches of whole revisions, until the signal aborts.
   * The iteration then ends without an error. Throws RevisionCompacted if the start is compacted.
   * Throws RevisionSetBack if the store was restored to a state older than the delivered changes.
   * `progress` reports a revision up to which everything was delivered, if no change has that
   * revision: etcd's revisions also count writes outside the range. It is called only while the
   * iteration waits for its next batch.
   */
  changes(options: {
    after: Revision
    signal: AbortSignal
    progress?: (revision: Revision) => void
  }): AsyncIterable<Change[]>
  /** The newest revision. Local stores return it synchronously; etcd needs a linearizable read. */
  currentRevision(): Revision | Promise<Revision>
  /**
   * Deletes the history up to and including a revision. Reads at older revisions throw
   * RevisionCompacted.
   */
  compact(upTo: Revision): Promise<void>
  /**
   * The last known compacted revision. Another server on the same etcd may have compacted further.
   */
  compactedUpTo(): Revision
  /**
   * The reason why the store cannot accept writes (disk full, etcd unreachable), or undefined. An
   * etcd whose database is full is not in trouble: it accepts deletions, which free space and need
   * a server that is ready.
   */
  trouble(): string | undefined
  /** The state with which this store was forked from another one. */
  origin?(): StoreState | undefined
  /**
   * The size of each server's file in bytes, by server name; -1 if the server does not report it.
   */
  sizes?(): Promise<ReadonlyMap<string, number>>
  close(): Promise<void>
}

/** A read or feed at a compacted revision. */
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
 * The store was restored to an older state, so everything derived from later revisions is invalid.
 */
export class RevisionSetBack extends Error {
  override name = 'RevisionSetBack'
  constructor(current: Revision, known: Revision) {
    super(`the store is at revision ${current} and was at ${known}: it was set back`)
  }
}

/**
 * The store is unavailable: disk full, etcd unreachable, closed. The message, which the client
 * gets, is the reason.
 */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable'
}

/**
 * The connection broke during a write, and the store cannot determine whether the write was done.
 * kube-apiserver answers with this message then.
 */
export class OutcomeUnknown extends StorageUnavailable {
  override name = 'OutcomeUnknown'
  constructor(options?: ErrorOptions) {
    super('rpc error: code = Unavailable desc = error reading from server: EOF', options)
  }
}

/**
 * A value exists but cannot be read; the message is the reason. A caller that treated it as absent
 * would create it again, or delete its dependents.
 */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

export const asUnreadable = (error: unknown): Unreadable =>
  error instanceof Unreadable ? error : new Unreadable((error as Error).message, { cause: error })

/**
 * No configured key can decrypt the value. Reads return the encrypted bytes, marked, and decoding
 * them throws this error. Other objects in the same list are unaffected.
 */
export class Unopened extends Unreadable {
  override name = 'Unopened'
}

const unopened = new WeakMap<Buffer, string>()

export function markUnopened(bytes: Buffer, why: string): void {
  unopened.set(bytes, why)
}

/** The prefix of every encrypted value; no other value begins with it. */
const sealedMark = Buffer.from('k8s:enc:')

export const isSealed = (bytes: Buffer): boolean =>
  bytes[0] === sealedMark[0] && bytes.subarray(0, sealedMark.length).equals(sealedMark)

/**
 * Also detects encrypted values that no sealer has read. An encrypted value of a resource that is
 * configured as plain must not count as missing.
 */
export const whyUnopened = (bytes: Buffer): string | undefined =>
  unopened.get(bytes) ??
  (isSealed(bytes) ? 'identity transformer tried to read encrypted data' : undefined)

export function requireOpened(bytes: Buffer): void {
  const why = whyUnopened(bytes)
  if (why !== undefined) throw new Unopened(why)
}

/** The error of an unreadable value in a list. */
export const amongOthers = (key: string, error: Unreadable): Unreadable =>
  error instanceof Unopened
    ? new Unopened(`unable to transform key ${JSON.stringify(key)}: ${error.message}`)
    : error

const stale = new WeakSet<Buffer>()

export function markStale(bytes: Buffer): void {
  stale.add(bytes)
}

/**
 * Whether a value was decrypted with a key other than the one for writing. A write of the same
 * bytes then changes the stored value.
 */
export const isStale = (bytes: Buffer): boolean => stale.has(bytes)

/** The range of all keys that begin with a prefix. */
export function prefixRange(prefix: string): KeyRange {
  const last = prefix.charCodeAt(prefix.length - 1)
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) }
}
