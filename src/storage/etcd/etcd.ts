/**
 * The store in etcd, v3 API: several servers may share it, each sees the writes of all, and state written by
 * kube-apiserver under the same keys is read as it is. It keeps nothing of the state itself: every read asks etcd, and
 * while etcd is away reads and writes fail with words that say so.
 */
import { type Clock, systemClock } from '#base/clock.ts'
import { compareKeys } from '#storage/key-order.ts'
import {
  type Change,
  type KeyRange,
  type Outcome,
  type Page,
  type PutCondition,
  prefixRange,
  type Read,
  type Revision,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageUnavailable,
  type Stored,
} from '#storage/storage.ts'
import { Connection, type ConnectionOptions, methods } from './connection.ts'
import { isCompacted, isLeaseMissing, translate } from './failure.ts'
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
  type WriteRequest,
} from './messages.ts'
import { Progress } from './progress.ts'
import { Watch, type WatchOptions } from './watch.ts'

/** Keys of one answer: some megabytes, which a server puts together without making others wait. */
const keysPerRequest = 1000

/** A list that compaction overtakes begins anew, but not for ever. */
const listAttemptsMax = 3

export interface EtcdOptions extends ConnectionOptions {
  /** The feed shows the keys that begin with this. */
  readonly watchPrefix?: string
  /** How long writes share a lease, at most; a minute where unset. */
  readonly leaseSharedSecondsMax?: number
  readonly clock?: Clock
  readonly random?: () => number
}

/**
 * Opens the store. Servers that cannot be reached are no error here: `trouble` says so, and the store recovers when
 * they come. What can never work, such as an unreadable certificate, is refused.
 */
export async function openEtcdStorage(options: EtcdOptions): Promise<Storage> {
  return new EtcdStorage(options)
}

class EtcdStorage implements Storage {
  #connection: Connection
  /**
   * What is read where only the revision counts: the key that kube-apiserver reads to know that etcd is well. Nobody need write
   * it; servers that are no etcd have it, because they know their newest revision only by what they find.
   */
  #probeKey: string
  #watchRange: KeyRange
  #leases: Leases
  #progress: Progress
  #watches = new Set<Watch>()
  #newest: Revision = 0
  #compacted: Revision = 0
  /** How often somebody has said up to where he compacts, as far as is known here. */
  #compactions = 0
  /** The question for the newest revision that is under way, and the one that will follow it. */
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

  async get(key: string, at?: Revision): Promise<Read<Stored | undefined>> {
    const response = await this.#range({ key, revision: at })
    const [item] = response.items
    return { revision: at || response.revision, value: item && toStored(item) }
  }

  async list(
    range: KeyRange,
    options: { at?: Revision; limit?: number } = {},
  ): Promise<Read<Page>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#list(range, options.at, options.limit || Number.POSITIVE_INFINITY)
      } catch (error) {
        const overtaken = error instanceof RevisionCompacted && !options.at
        if (!overtaken || attempt === listAttemptsMax) throw error
      }
    }
  }

  async count(range: KeyRange): Promise<Read<number>> {
    const response = await this.#range({ key: range.start, end: range.end, countOnly: true })
    return { revision: response.revision, value: response.count }
  }

  async put(key: string, value: Buffer, condition: PutCondition): Promise<Outcome> {
    const { ifRevision, ttlSeconds } = condition
    if (!ttlSeconds) return this.#write({ key, ifRevision, value })
    try {
      const lease = await this.#leases.of(ttlSeconds)
      return await this.#outcome({ key, ifRevision, value, lease })
    } catch (error) {
      if (!isLeaseMissing(error)) throw this.#translated(error)
      // The server forgot the lease before this write came: nothing was written.
      this.#leases.forget(ttlSeconds)
      const lease = await this.#leases.of(ttlSeconds).catch((again) => {
        throw this.#translated(again)
      })
      return this.#write({ key, ifRevision, value, lease })
    }
  }

  async delete(key: string, { ifRevision }: { ifRevision: Revision }): Promise<Outcome> {
    if (ifRevision > 0) return this.#write({ key, ifRevision, value: undefined })
    const { value } = await this.get(key)
    return { ok: false, current: value }
  }

  changes(options: WatchOptions): AsyncIterable<Change[]> {
    return {
      [Symbol.asyncIterator]: () => {
        const watch = new Watch(
          {
            connection: this.#connection,
            range: this.#watchRange,
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
      },
    }
  }

  /** Callers that come while a question is under way share the next: the one under way may be too old for them. */
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
   * Servers on one etcd tell one another up to where they compact, as kube-apiserver does. A server that does not let itself be
   * told, as those that are no etcd, compacts by itself and must not be asked to.
   */
  async compact(upTo: Revision): Promise<void> {
    try {
      if (upTo > this.#newest && upTo > (await this.currentRevision())) {
        throw new RevisionInFuture(this.#newest)
      }
      if (!(await this.#tellOfCompaction(upTo))) return
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
    const said = await this.#connection.askEach(methods.status, Buffer.alloc(0))
    return new Map(
      said.map(([name, status]) => [name, status ? decodeStatus(status).sizeBytes : -1]),
    )
  }

  async close(): Promise<void> {
    this.#closed ??= new StorageUnavailable('the store is closed')
    for (const watch of [...this.#watches]) watch.fail(this.#closed)
    await this.#connection.close()
  }

  /** Whether the server takes it, or has heard of the same from another. */
  async #tellOfCompaction(upTo: Revision): Promise<boolean> {
    for (;;) {
      const known = this.#compactions
      const request = encodeCompaction(known, upTo)
      const said = decodeCompaction(await this.#connection.write(methods.txn, request))
      this.#compactions = said.succeeded ? known + 1 : said.version
      if (said.succeeded || said.upTo >= upTo) return true
      if (said.version === known) return false
    }
  }

  async #list(range: KeyRange, at: Revision | undefined, limit: number): Promise<Read<Page>> {
    const items: Stored[] = []
    let start = range.start
    let revision = at
    for (;;) {
      const wanted = Math.min(limit - items.length, keysPerRequest)
      const response = await this.#range({ key: start, end: range.end, revision, limit: wanted })
      revision ||= response.revision
      for (const item of response.items) items.push(toStored(item))
      const remaining = response.count - response.items.length
      if (!response.more || items.length >= limit) {
        if (limit === Number.POSITIVE_INFINITY) sortByKey(items)
        return { revision, value: { items, more: response.more, remaining } }
      }
      start = `${items[items.length - 1].key}\0`
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

  async #write(request: WriteRequest): Promise<Outcome> {
    try {
      return await this.#outcome(request)
    } catch (error) {
      throw this.#translated(error)
    }
  }

  async #outcome(request: WriteRequest): Promise<Outcome> {
    const { key, ifRevision, value } = request
    const response = decodeWrite(await this.#connection.write(methods.txn, encodeWrite(request)))
    const { revision, succeeded, found } = response
    this.#sawRevision(revision)
    if (!succeeded) {
      const current = ifRevision === 0 ? (await this.get(key)).value : found && toStored(found)
      return { ok: false, current }
    }
    // Those that are no etcd have nothing against the deletion of what is gone: it was there if etcd counts it, or if it is shown.
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

  /** What is newest now, also where more was seen before. */
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

function toStored(item: KeyValue): Stored {
  return { key: item.key, bytes: item.value, revision: item.modRevision }
}

/** Servers that are no etcd may list in the order of revisions. */
function sortByKey(items: Stored[]): void {
  const isSorted = items.every(
    ({ key }, i) => i === 0 || compareKeys(items[i - 1]?.key ?? '', key) < 0,
  )
  if (!isSorted) items.sort((a, b) => compareKeys(a.key, b.key))
}
