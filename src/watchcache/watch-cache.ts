/**
 * The watch cache of all requested resources. A resource is loaded on first use. All resources
 * follow one feed, which brings this server's writes and those of other servers. A server without
 * readers holds nothing in memory.
 */
import { type Clock, elapsedMs } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import { SortedMap } from '#base/sorted-map.ts'
import type { Resource } from '#kinds/kind.ts'
import {
  asUnreadable,
  type Change,
  prefixRange,
  type Revision,
  RevisionCompacted,
  RevisionSetBack,
  type Storage,
  type Unreadable,
} from '#storage/storage.ts'
import type { CatchUp } from './catch-up.ts'
import type { Entry, ParseStored } from './entry.ts'
import { type EntryMaker, entryMaker } from './entry-maker.ts'
import type { SharedEntries } from './shared-entries.ts'
import { Freshness } from './freshness.ts'
import type { HistoryLimits } from './history.ts'
import { ResourceCache } from './resource-cache.ts'
import type { Watcher } from './watcher.ts'

const loadCatchUp = loadLater<typeof import('./catch-up.ts')>(import.meta.url, './catch-up')

/** Objects per page while a resource is loaded; the event loop is free between pages. */
const loadPageSize = 500
/** The pause before a broken feed is reopened. */
const feedRetryMs = 200
const feedRetry = () => new Promise((resolve) => setTimeout(resolve, feedRetryMs))
/**
 * How many past revisions are read when a resource is first used. A client that writes and then
 * watches from its write gets all events since, even if another client requested the resource
 * first.
 */
const pastRevisionsMax = 1000

/** How often old snapshots are evicted. */
const lookIntervalMs = 60_000

export interface WatchCacheParts {
  readonly storage: Storage
  readonly parse: ParseStored
  readonly clock: Clock
  /** Parsed entries shared with the caches of other stores that hold the same bytes. */
  readonly shared?: SharedEntries | undefined
  readonly limits: (resource: Resource) => HistoryLimits
  /** The prefix of all keys: '/registry'. */
  readonly root: string
  /** Reports a broken feed or an unreadable object to the log; the cache never throws for them. */
  readonly report: (message: string, error: unknown) => void
  /** Called for each page of a resource that is being loaded. */
  readonly loading?: (resource: Resource, done: number, total: number) => void
}

interface Slot {
  cache: ResourceCache | undefined
  loading: Promise<ResourceCache> | undefined
  /** Changes that arrive while the resource is being loaded. */
  waiting: Change[]
}

export class WatchCache {
  readonly #parts: WatchCacheParts
  readonly #slots = new Map<string, Slot>()
  readonly freshness: Freshness
  readonly #stop = new AbortController()
  /** From this revision on, the feed delivered every change. */
  #followedSince: Revision
  #following: Promise<void> | undefined
  #looking: NodeJS.Timeout | undefined
  #expectFeedFrom: Revision
  /** The newest revision of a discarded history: the store was reset to an older revision. */
  #undoneUpTo: Revision
  /** The revision of the last change from the feed. */
  #lastChange: Revision
  /** The last write to each resource that is not loaded. Without one, there is no past to read. */
  readonly #written = new Map<string, Revision>()
  /** Readers that wait for the first object of a resource, by prefix. */
  readonly #awaited = new Map<string, Set<() => void>>()

  /**
   * `undoneUpTo`: the newest revision of the history that the store discarded before it was opened.
   */
  constructor(parts: WatchCacheParts, startRevision: Revision, undoneUpTo: Revision = 0) {
    this.#undoneUpTo = undoneUpTo
    this.#parts = parts
    this.freshness = new Freshness(startRevision)
    this.#followedSince = startRevision
    this.#expectFeedFrom = startRevision
    this.#lastChange = startRevision
  }

  start(): void {
    this.#following = this.#follow()
    this.#looking = setInterval(() => this.#forgetOld(), lookIntervalMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    this.#stop.abort()
    this.freshness.giveUp()
    this.#releaseAll()
    for (const { cache } of this.#slots.values()) cache?.fanOut.endAll()
    await this.#following
  }

  get closed(): boolean {
    return this.#stop.signal.aborted
  }

  /** All loaded caches, for metrics. */
  *loaded(): Iterable<ResourceCache> {
    for (const { cache } of this.#slots.values()) if (cache !== undefined) yield cache
  }

  /**
   * The cache of one resource, without a promise if it is loaded. `isRead`: the caller reads every
   * object immediately.
   */
  of(resource: Resource, isRead = false): ResourceCache | Promise<ResourceCache> {
    const slot = this.#slots.get(resource.storagePrefix)
    if (slot?.cache !== undefined && slot.cache.resource === resource) return slot.cache
    if (slot?.loading !== undefined) return slot.loading
    return this.#load(resource, isRead)
  }

  /**
   * Resolves when the resource has an object, or when the signal aborts. Calls `whenEmpty` first if
   * it has none. A controller that follows every kind waits here for most of them. That takes a
   * tenth of the memory of an empty cache with a watcher.
   */
  async untilStored(
    { storagePrefix }: Resource,
    signal: AbortSignal,
    whenEmpty: () => void,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const release = () => resolve()
    const waiters = this.#awaited.get(storagePrefix) ?? new Set()
    this.#awaited.set(storagePrefix, waiters.add(release))
    signal.addEventListener('abort', release, { once: true })
    try {
      const { value } = await this.#parts.storage.count(prefixRange(`${storagePrefix}/`))
      if (value > 0 || signal.aborted || this.closed) return
      whenEmpty()
      await promise
    } finally {
      signal.removeEventListener('abort', release)
      waiters.delete(release)
      if (waiters.size === 0 && this.#awaited.get(storagePrefix) === waiters)
        this.#awaited.delete(storagePrefix)
    }
  }

  #releaseAll(): void {
    for (const waiters of this.#awaited.values()) for (const release of waiters) release()
  }

  /** Evicts a resource that is no longer served, or whose definition changed; its watches end. */
  drop(resource: Resource): void {
    const slot = this.#slots.get(resource.storagePrefix)
    if (slot === undefined) return
    this.#forget(resource)
    slot.cache?.fanOut.endAll()
  }

  /**
   * Delivers changes older than the cache's history from the store to a watcher. Returns undefined
   * if the store has compacted them. `beforeDefined` includes changes from before the current
   * definition of the resource.
   */
  catchUp(
    cache: ResourceCache,
    watcher: Watcher,
    from: Revision,
    beforeDefined = false,
  ): Promise<CatchUp | undefined> {
    const { storage, parse } = this.#parts
    const report = (error: unknown) => {
      const { storagePrefix } = cache.resource
      this.#parts.report(`the past of ${storagePrefix} cannot be read`, error)
    }
    return loadCatchUp().catchUp({ storage, parse, cache, watcher, from, beforeDefined, report })
  }

  /** If the resource is loaded again, the changes seen until now belong to its past. */
  #forget({ storagePrefix }: Resource): void {
    this.#slots.delete(storagePrefix)
    this.#written.set(storagePrefix, this.#lastChange)
  }

  #load(resource: Resource, isRead: boolean): Promise<ResourceCache> {
    const slot: Slot = { cache: undefined, loading: undefined, waiting: [] }
    this.drop(resource)
    this.#slots.set(resource.storagePrefix, slot)
    slot.loading = this.#read(resource, this.#lastChange, isRead)
      .then((cache) => {
        for (const change of slot.waiting) this.#apply(cache, change)
        slot.waiting = []
        slot.cache = cache
        slot.loading = undefined
        if (this.#slots.get(resource.storagePrefix) === slot)
          this.#written.delete(resource.storagePrefix)
        // The resource was evicted during loading: end its watches, because no changes will arrive.
        else cache.fanOut.endAll()
        return cache
      })
      .catch((error) => {
        if (this.#slots.get(resource.storagePrefix) === slot) this.#forget(resource)
        throw error
      })
    return slot.loading
  }

  /**
   * Loads the resource at a recent revision and replays the changes since. If no past is kept, it
   * loads the current state.
   */
  async #read(resource: Resource, until: Revision, isRead: boolean): Promise<ResourceCache> {
    const since = Math.max(this.#followedSince, until - pastRevisionsMax, resource.since ?? 0)
    if (since >= until) return this.#readAt(resource, undefined, isRead)
    const isWritten = this.#isWrittenSince(resource, since)
    try {
      const cache = await this.#readAt(resource, since)
      if (isWritten) await this.#replay(cache, since, until)
      return cache
    } catch (error) {
      if (error instanceof RevisionCompacted) return this.#readAt(resource, undefined)
      throw error
    }
  }

  #isWrittenSince({ storagePrefix }: Resource, since: Revision): boolean {
    const names = [storagePrefix, this.#prefixOf(`${storagePrefix}/`)]
    return names.some((name) => (this.#written.get(name) ?? 0) > since)
  }

  async #replay(cache: ResourceCache, after: Revision, until: Revision): Promise<void> {
    const prefix = `${cache.resource.storagePrefix}/`
    const done = new AbortController()
    const signal = AbortSignal.any([done.signal, this.#stop.signal])
    for await (const batch of this.#parts.storage.changes({ after, signal })) {
      for (const change of batch) {
        if (change.revision <= until && change.key.startsWith(prefix)) this.#apply(cache, change)
      }
      if (batch.length > 0 && batch[batch.length - 1].revision >= until) break
    }
    done.abort()
  }

  async #readAt(
    resource: Resource,
    at: Revision | undefined,
    isRead = false,
  ): Promise<ResourceCache> {
    const { storage, parse, limits, shared } = this.#parts
    const own = entryMaker(resource, parse)
    const maker = shared?.maker(resource, own) ?? own
    const origin = storage.origin?.()
    const isOrigin = origin?.revision === (at ?? (origin && storage.currentRevision()))
    const known = origin && isOrigin ? shared?.loaded(resource, origin) : undefined
    if (known !== undefined) return new ResourceCache(resource, maker, known, limits(resource))
    const read = await this.#readEntries(resource, maker, at, isRead)
    if (origin !== undefined && read.revision === origin.revision && read.unreadable.size === 0)
      read.entries = shared?.share(resource, origin, read.entries) ?? read.entries
    return new ResourceCache(resource, maker, read, limits(resource))
  }

  async #readEntries(
    resource: Resource,
    maker: EntryMaker,
    at: Revision | undefined,
    isRead: boolean,
  ) {
    const { storage, report, loading } = this.#parts
    const range = prefixRange(`${resource.storagePrefix}/`)
    const entries = new SortedMap<Entry>()
    const unreadable = new Map<string, Unreadable>()
    let start = range.start
    let revision = at
    for (;;) {
      const options = { limit: loadPageSize, ...(revision !== undefined && { at: revision }) }
      const read = await storage.list({ start, end: range.end }, options)
      revision ??= read.revision
      for (const { key, bytes, revision: written } of read.value.items) {
        try {
          entries.set(key, maker.make(key, written, bytes, isRead))
        } catch (error) {
          unreadable.set(key, asUnreadable(error))
          report(`the object stored at ${key} cannot be read`, error)
        }
        start = `${key}\0`
      }
      const done = entries.size + unreadable.size
      loading?.(resource, done, done + read.value.remaining)
      if (!read.value.more) return { entries, revision, unreadable }
    }
  }

  async #follow(): Promise<void> {
    const { storage, report } = this.#parts
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        const progress = (revision: Revision) => this.#advance(revision)
        for await (const batch of storage.changes({
          after: this.#expectFeedFrom,
          signal,
          progress,
        })) {
          this.#ingest(batch)
        }
        if (signal.aborted) return
      } catch (error) {
        if (signal.aborted) return
        report('the feed of the store broke', error)
        if (error instanceof RevisionCompacted || error instanceof RevisionSetBack)
          await this.#restart()
      }
      await feedRetry()
    }
  }

  /**
   * Changes were lost, so all caches are dropped. All watches end, and their clients list again.
   */
  async #restart(): Promise<void> {
    const current = await this.#newest()
    if (current === undefined) return
    for (const slot of this.#slots.values()) slot.cache?.fanOut.endAll()
    this.#slots.clear()
    this.#written.clear()
    this.#releaseAll()
    this.#followedSince = current
    this.#lastChange = current
    if (current < this.#expectFeedFrom) {
      this.#undoneUpTo = Math.max(this.#undoneUpTo, this.#expectFeedFrom)
      this.#expectFeedFrom = current
      this.freshness.setBack(current)
    }
    this.#advance(current)
  }

  /** Whether the revision belongs to a discarded history and will be assigned again. */
  isUndone(revision: Revision): boolean {
    return revision > this.freshness.revision && revision <= this.#undoneUpTo
  }

  /**
   * The current revision, as soon as the store responds. A feed that continued without it could not
   * detect a second reset of the store.
   */
  async #newest(): Promise<Revision | undefined> {
    const { storage, report } = this.#parts
    while (!this.closed) {
      try {
        return await storage.currentRevision()
      } catch (why) {
        report('the store does not answer', why)
        await feedRetry()
      }
    }
    return undefined
  }

  #ingest(batch: Change[]): void {
    if (batch.length === 0) return
    for (const change of batch) {
      // A subscriber may load another resource now; for it, the earlier changes of this batch are
      // the past.
      this.#lastChange = change.revision
      const slot = this.#ofKey(this.#slots, change.key)
      if (this.#awaited.size > 0)
        for (const release of this.#ofKey(this.#awaited, change.key) ?? []) release()
      if (slot === undefined) this.#written.set(this.#prefixOf(change.key), change.revision)
      else if (slot.cache === undefined) slot.waiting.push(change)
      else this.#apply(slot.cache, change)
    }
    this.#advance(this.#lastChange)
  }

  #apply(cache: ResourceCache, change: Change): void {
    try {
      // Elapsed time, because an adjusted system clock must not expire the history.
      cache.apply(change, elapsedMs(this.#parts.clock))
    } catch (error) {
      this.#parts.report(`the change of ${change.key} cannot be read`, error)
    }
  }

  /** Evicts old snapshots, and old rows of `#written`, so that their number stays limited. */
  #forgetOld(): void {
    const nowMs = elapsedMs(this.#parts.clock)
    for (const { cache } of this.#slots.values()) cache?.forgetSnapshots(nowMs)
    const oldest = this.#lastChange - pastRevisionsMax
    for (const [prefix, revision] of this.#written)
      if (revision < oldest) this.#written.delete(prefix)
  }

  #advance(revision: Revision): void {
    if (revision <= this.#expectFeedFrom) return
    this.#expectFeedFrom = revision
    this.freshness.advance(revision)
  }

  /**
   * Finds what is kept for the resource of `/registry/pods/…`, `/registry/services/specs/…` or
   * `/registry/example.com/widgets/…`.
   */
  #ofKey<T>(byPrefix: ReadonlyMap<string, T>, key: string): T | undefined {
    const second = key.indexOf('/', this.#parts.root.length + 1)
    // A key without a second slash belongs to no resource; slicing it at -1 could yield the name of
    // one.
    if (second === -1) return undefined
    const found = byPrefix.get(key.slice(0, second))
    if (found !== undefined) return found
    const third = key.indexOf('/', second + 1)
    return third === -1 ? undefined : byPrefix.get(key.slice(0, third))
  }

  /**
   * The resource part of a key: the first segment below the root, and also the second if the first
   * is a group.
   */
  #prefixOf(key: string): string {
    const { root } = this.#parts
    const second = key.indexOf('/', root.length + 1)
    const first = key.slice(0, second)
    return first.includes('.', root.length) ? key.slice(0, key.indexOf('/', second + 1)) : first
  }
}
