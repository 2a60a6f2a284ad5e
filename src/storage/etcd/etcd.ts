/**
 * The store in etcd (v3 API). Several servers may share it, and each sees the writes of all. It
 * reads the state that kube-apiserver wrote under the same keys. It caches nothing: every read is a
 * request to etcd. While etcd is unreachable, requests wait until their deadline. If the response
 * to a write is lost, the store looks up its outcome before it repeats or reports it. It reports an
 * outcome that it cannot determine as unknown.
 */
import { type Clock, systemClock } from '#base/clock.ts'
import { compareKeys } from '#storage/key-order.ts'
import {
  type Change,
  type DeleteCondition,
  type KeyRange,
  type Outcome,
  OutcomeUnknown,
  type Page,
  type PutCondition,
  prefixRange,
  type AtRevision,
  type Revision,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageUnavailable,
  type Stored,
} from '#storage/storage.ts'
import { Connection, type ConnectionOptions, methods } from './connection.ts'
import { isCompacted, isLeaseMissing, isUnknown, translate } from './failure.ts'
import { Leases } from './lease.ts'
import {
  decodeCompaction,
  decodeRange,
  decodeStatus,
  decodeWrite,
  encodeCompact,
  encodeCompaction,
  encodeRange,
  encodeWrite,
  type KeyValue,
  type RangeRequest,
  type RangeResponse,
  type EtcdWrite,
} from './messages.ts'
import { type FoundOutcome, foundOutcome } from './lost-response.ts'
import { Progress } from './progress.ts'
import { Watch, type WatchOptions } from './watch.ts'

/** Keys per response: some megabytes, which etcd assembles without delaying other requests. */
const keysPerRequest = 1000

/** A list whose revision is compacted while it is read starts again, but not for ever. */
const listAttemptsMax = 3

export interface EtcdOptions extends ConnectionOptions {
  /** The feed delivers the keys with this prefix. */
  readonly watchPrefix?: string
  /** How long writes share a lease at most; default: one minute. */
  readonly leaseSharedSecondsMax?: number
  readonly clock?: Clock
  readonly random?: () => number
}

/**
 * Opens the store. Unreachable servers are not an error here: `trouble` reports them, and the store
 * recovers when they respond. A configuration that can never work, such as an unreadable
 * certificate, throws.
 */
export async function openEtcdStorage(options: EtcdOptions): Promise<Storage> {
  return new EtcdStorage(options)
}

class EtcdStorage implements Storage {
  #connection: Connection
  /**
   * The key of reads that only need the revision: kube-apiserver reads it to check etcd's health.
   * It need not exist in etcd. Servers that imitate etcd have it, because their newest revision
   * comes from reads.
   */
  #probeKey: string
  #watchRange: KeyRange
  #leases: Leases
  #progress: Progress
  #watches = new Set<Watch>()
  #newest: Revision = 0
  #compacted: Revision = 0
  /** The last known version of the compaction key. */
  #compactions = 0
  /** The running request for the newest revision, and the request after it. */
  #asking: Promise<Revision> | undefined
  #askingNext: Promise<Revision> | undefined
  #closed: StorageUnavailable | undefined

  constructor(options: EtcdOptions) {
    const clock = options.clock ?? systemClock
    const prefix = options.watchPrefix ?? '/registry/'
    this.#probeKey = `${prefix}health`
    this.#connection = new Connection(options, this.#probeKey)
    this.#watchRange = prefixRange(prefix)
    this.#progress = new Progress(this.#connection, prefix)
    this.#leases = new Leases(
      this.#connection,
      () => (clock.elapsed ? clock.elapsed() : clock.now()),
      options.random ?? Math.random,
      options.leaseSharedSecondsMax,
    )
  }

  async get(key: string, at?: Revision): Promise<AtRevision<Stored | undefined>> {
    const response = await this.#range({ key, revision: at })
    const [item] = response.items
    return { revision: at || response.revision, value: item && toStored(item) }
  }

  async list(
    range: KeyRange,
    options: { at?: Revision; limit?: number } = {},
  ): Promise<AtRevision<Page>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#list(range, options.at, options.limit || Number.POSITIVE_INFINITY)
      } catch (error) {
        const overtaken = error instanceof RevisionCompacted && !options.at
        if (!overtaken || attempt === listAttemptsMax) throw error
      }
    }
  }

  async count(range: KeyRange): Promise<AtRevision<number>> {
    const response = await this.#range({ key: range.start, end: range.end, countOnly: true })
    return { revision: response.revision, value: response.count }
  }

  async put(key: string, value: Buffer, condition: PutCondition): Promise<Outcome> {
    const { ifRevision, ttlSeconds, isUnique } = condition
    const deadline = this.#connection.deadline(timeOfDay(condition.deadlineAt))
    const write = { key, ifRevision, value, isUnique }
    try {
      if (!ttlSeconds) return await this.#write(write, deadline)
      const lease = await this.#leases.of(ttlSeconds, deadline)
      return await this.#write({ ...write, lease }, deadline).catch(async (error) => {
        if (!isLeaseMissing(error)) throw error
        // etcd dropped the lease before this write arrived, so nothing was written.
        this.#leases.forget(ttlSeconds)
        const another = await this.#leases.of(ttlSeconds, deadline)
        return this.#write({ ...write, lease: another }, deadline)
      })
    } catch (error) {
      throw this.#translated(error)
    }
  }

  async delete(key: string, { ifRevision, deadlineAt }: DeleteCondition): Promise<Outcome> {
    const deadline = this.#connection.deadline(timeOfDay(deadlineAt))
    if (ifRevision > 0) {
      return this.#write({ key, ifRevision, value: undefined }, deadline).catch((error) => {
        throw this.#translated(error)
      })
    }
    const { value } = await this.get(key)
    return { ok: false, current: value }
  }

  changes(options: WatchOptions): AsyncIterable<Change[]> {
    return {
      [Symbol.asyncIterator]: () => this.#startWatch(options, this.#watchRange),
    }
  }

  #startWatch(options: WatchOptions, range: KeyRange): Watch {
    const watch = new Watch(
      {
        connection: this.#connection,
        range,
        progress: this.#progress,
        newest: () => this.#afterSetBack(),
      },
      options,
      (ended) => this.#watches.delete(ended),
    )
    this.#watches.add(watch)
    if (this.#closed) watch.fail(this.#closed)
    else watch.start()
    return watch
  }

  /**
   * A caller that comes during a request shares the next one: the running one may return a revision
   * too old for it.
   */
  currentRevision(): Promise<Revision> {
    if (!this.#asking) return this.#ask()
    this.#askingNext ??= this.#asking.then(
      () => this.#ask(),
      () => this.#ask(),
    )
    return this.#askingNext
  }

  compactedUpTo(): Revision {
    return this.#compacted
  }

  /**
   * Servers on one etcd announce the compaction revision in a key, as kube-apiserver does. A server
   * that imitates etcd without supporting this compacts by itself and gets no request.
   */
  async compact(upTo: Revision): Promise<void> {
    try {
      if (upTo > this.#newest && upTo > (await this.currentRevision())) {
        throw new RevisionInFuture(this.#newest)
      }
      if (!(await this.#announceCompaction(upTo))) return
      await this.#connection.write(methods.compact, encodeCompact(upTo))
    } catch (error) {
      if (!isCompacted(error)) throw this.#translated(error, upTo)
    }
    this.#compacted = Math.max(this.#compacted, upTo)
  }

  trouble(): string | undefined {
    return this.#connection.trouble()
  }

  async sizes(): Promise<ReadonlyMap<string, number>> {
    const statuses = await this.#connection.askEach(methods.status, Buffer.alloc(0))
    return new Map(
      statuses.map(([name, status]) => [name, status ? decodeStatus(status).sizeBytes : -1]),
    )
  }

  async close(): Promise<void> {
    this.#closed ??= new StorageUnavailable('the store is closed')
    for (const watch of [...this.#watches]) watch.fail(this.#closed)
    await this.#connection.close()
  }

  /**
   * Returns true if etcd accepts the announcement, or if another server announced this revision or
   * a later one.
   */
  async #announceCompaction(upTo: Revision): Promise<boolean> {
    for (;;) {
      const known = this.#compactions
      const request = encodeCompaction(known, upTo)
      const response = decodeCompaction(await this.#connection.write(methods.txn, request))
      this.#compactions = response.succeeded ? known + 1 : response.version
      if (response.succeeded || response.upTo >= upTo) return true
      if (response.version === known) return false
    }
  }

  async #list(range: KeyRange, at: Revision | undefined, limit: number): Promise<AtRevision<Page>> {
    const items: Stored[] = []
    let start = range.start
    let revision = at
    for (;;) {
      const wanted = Math.min(limit - items.length, keysPerRequest)
      const response = await this.#range({ key: start, end: range.end, revision, limit: wanted })
      revision ||= response.revision
      for (const item of response.items)
        if (item.key !== this.#progress.markerKey) items.push(toStored(item))
      const remaining = response.count - response.items.length
      if (!response.more || items.length >= limit) {
        if (limit === Number.POSITIVE_INFINITY) sortByKey(items)
        return { revision, value: { items, more: response.more, remaining } }
      }
      start = `${response.items.at(-1)?.key}\0`
    }
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    try {
      const response = decodeRange(await this.#connection.read(methods.range, encodeRange(request)))
      this.#sawRevision(response.revision)
      return response
    } catch (error) {
      throw this.#translated(error, request.revision)
    }
  }

  /**
   * Writes once. If the response is lost, the key's history may show whether the write was done. An
   * update that was not done is sent again; its condition prevents a second effect.
   */
  async #write(request: EtcdWrite, deadline: number): Promise<Outcome> {
    // Older changes are not the effect of this write, and may be compacted.
    const since = Math.max(request.ifRevision, this.#newest)
    let lost: unknown
    for (;;) {
      try {
        const outcome = await this.#outcome(request, deadline)
        if (outcome.ok || lost === undefined) return outcome
      } catch (error) {
        if (!isUnknown(error))
          throw lost === undefined ? error : new OutcomeUnknown({ cause: error })
        lost = error
      }
      const found = await this.#lookUp(request, since, deadline).catch(() => 'unknown' as const)
      if (found === 'unknown') throw new OutcomeUnknown({ cause: lost })
      if (found !== 'not done') return found
    }
  }

  /** The outcome of a write whose response was lost. Throws if the history is compacted. */
  async #lookUp(write: EtcdWrite, since: Revision, deadline: number): Promise<FoundOutcome> {
    const { key, ifRevision } = write
    const request = encodeRange({ key })
    const { items, revision } = decodeRange(
      await this.#connection.read(methods.range, request, deadline),
    )
    const current = items[0] && toStored(items[0])
    if (ifRevision > 0 && current?.revision === ifRevision) return 'not done'
    // etcd was restored to an older state.
    if (revision < since) return 'unknown'
    return foundOutcome(write, await this.#history(key, since, revision, deadline), current)
  }

  /** The changes of a key after one revision and up to another. */
  async #history(
    key: string,
    after: Revision,
    upTo: Revision,
    deadline: number,
  ): Promise<Change[]> {
    const found: Change[] = []
    if (after >= upTo) return found
    const stop = new AbortController()
    // A server that cannot report progress shows it only by the marker, which needs a watch of all
    // keys.
    const { answersProgressRequests } = this.#progress
    const range = answersProgressRequests ? { start: key, end: `${key}\0` } : this.#watchRange
    const progress = (revision: Revision) => revision >= upTo && stop.abort()
    const watch = this.#startWatch({ after, signal: stop.signal, progress }, range)
    watch.wantProgress(upTo)
    const late = () =>
      watch.fail(new StorageUnavailable('etcd does not report the history of a key'))
    const timer = setTimeout(late, Math.max(0, deadline - Date.now()))
    try {
      for (;;) {
        const { done, value: batch } = await watch.next()
        if (done) return found
        for (const change of batch) if (change.key === key) found.push(change)
        if ((batch.at(-1)?.revision ?? 0) >= upTo) return found
      }
    } finally {
      clearTimeout(timer)
      stop.abort()
    }
  }

  async #outcome(request: EtcdWrite, deadline: number): Promise<Outcome> {
    const { key, ifRevision, value } = request
    const response = decodeWrite(
      await this.#connection.write(methods.txn, encodeWrite(request), deadline),
    )
    const { revision, succeeded, found } = response
    this.#sawRevision(revision)
    if (!succeeded) {
      const current = ifRevision === 0 ? (await this.get(key)).value : found && toStored(found)
      return { ok: false, current }
    }
    // Servers that imitate etcd may report success for the deletion of a missing key. The key
    // existed if the response counts the deletion or contains the key.
    const isDone = value || response.deleted > 0 || found?.modRevision === ifRevision
    return isDone ? { ok: true, revision } : { ok: false, current: undefined }
  }

  #ask(): Promise<Revision> {
    this.#askingNext = undefined
    const asking = this.#range({ key: this.#probeKey, countOnly: true }).then((response) => {
      for (const watch of this.#watches) watch.wantProgress(response.revision)
      return response.revision
    })
    const done = () => {
      if (this.#asking === asking) this.#asking = undefined
    }
    asking.then(done, done)
    this.#asking = asking
    return asking
  }

  /** The current revision, even if it is lower than one seen before. */
  async #afterSetBack(): Promise<Revision> {
    const revision = await this.currentRevision()
    this.#newest = revision
    this.#progress.setBack(revision)
    return revision
  }

  #sawRevision(revision: Revision): void {
    if (revision > this.#newest) this.#newest = revision
  }

  #translated(error: unknown, at?: Revision): Error {
    const known = { newest: this.#newest, compacted: this.#compacted }
    return translate(error, this.#connection.endpoints, at, known)
  }
}

/** Converts a `performance.now()` value to a time of day. */
const timeOfDay = (at: number | undefined): number | undefined =>
  at === undefined ? undefined : Date.now() + at - performance.now()

function toStored(item: KeyValue): Stored {
  return { key: item.key, bytes: item.value, revision: item.modRevision }
}

/** Servers that imitate etcd may list in the order of revisions. */
function sortByKey(items: Stored[]): void {
  const isSorted = items.every(
    ({ key }, i) => i === 0 || compareKeys(items[i - 1]?.key ?? '', key) < 0,
  )
  if (!isSorted) items.sort((a, b) => compareKeys(a.key, b.key))
}
