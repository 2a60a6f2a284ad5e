/**
 * A watch that begins before the history in memory. Its watcher receives the store's own history,
 * no faster than its client reads, until memory can take over. Of the past it holds a few batches,
 * and each changed object as it was last; where the store forgets faster than the client reads, the
 * watch ends and its client goes on from where it was.
 */
import {
  type Change,
  type Revision,
  RevisionCompacted,
  type Storage,
  Unreadable,
} from '#storage/storage.ts'
import type { Entry, ParseStored } from './entry.ts'
import { type EntryMaker, entryMaker } from './entry-maker.ts'
import type { Subscriber } from './fan-out.ts'
import { cacheEvent } from './history.ts'
import type { ResourceCache } from './resource-cache.ts'
import { transition } from './batch.ts'
import type { Watcher } from './watcher.ts'

/** Events that may wait for the client before more of the past is read. */
const queuedMax = 1000
/** Bytes of their objects, likewise: far less than what ends a watch. */
const queuedBytesMax = 8 << 20
/** How often a client that is behind is looked after. */
const lookIntervalMs = 10

export interface CatchUpParts {
  readonly storage: Storage
  readonly parse: ParseStored
  readonly cache: ResourceCache
  readonly watcher: Watcher
  readonly from: Revision
  /** Changes under a name before its kind was defined are delivered too. */
  readonly beforeDefined: boolean
  /** A past that cannot be read. */
  readonly report: (error: unknown) => void
}

/** Undefined where the store has forgotten what the watch begins with. */
export async function catchUp(parts: CatchUpParts): Promise<CatchUp | undefined> {
  const { storage, cache, from, beforeDefined } = parts
  if (!beforeDefined && from < (cache.resource.since ?? 0)) return undefined
  try {
    // What is never there: a list, however short, would count what follows.
    await storage.get(`${cache.resource.storagePrefix}/`, from)
  } catch (error) {
    if (error instanceof RevisionCompacted) return undefined
    throw error
  }
  return new CatchUp(parts)
}

export class CatchUp {
  readonly #parts: CatchUpParts
  readonly #stop = new AbortController()
  readonly #prefix: string
  readonly #maker: EntryMaker
  /** What the changed objects were before the next change of them. */
  readonly #known = new Map<string, Entry | undefined>()
  #revision: Revision
  /** The subscriber in memory, once memory has taken over. */
  #live: Subscriber | undefined

  constructor(parts: CatchUpParts) {
    const { cache, watcher, from, parse } = parts
    this.#parts = parts
    this.#revision = from
    const { storagePrefix } = cache.resource
    this.#prefix =
      watcher.namespace === '' ? `${storagePrefix}/` : `${storagePrefix}/${watcher.namespace}/`
    this.#maker = entryMaker(cache.resource, parse)
    void this.#run().catch((error) => {
      if (!(error instanceof RevisionCompacted) && !this.#stop.signal.aborted) parts.report(error)
      watcher.end()
    })
  }

  /** Everything up to here was delivered; undefined once memory has taken over. */
  get progress(): Revision | undefined {
    return this.#live === undefined ? this.#revision : undefined
  }

  stop(): void {
    this.#stop.abort()
    if (this.#live !== undefined) this.#parts.cache.fanOut.remove(this.#live)
  }

  async #run(): Promise<void> {
    const { storage, from, watcher } = this.#parts
    const { signal } = this.#stop
    const progress = (revision: Revision) => {
      this.#revision = Math.max(this.#revision, revision)
      this.#handOver()
    }
    for await (const batch of storage.changes({ after: from, signal, progress })) {
      if (this.#live !== undefined) return
      await this.#deliverBatch(batch)
      if (watcher.ended || signal.aborted) return
      this.#handOver()
      if (this.#live !== undefined) return
    }
  }

  async #deliverBatch(batch: readonly Change[]): Promise<void> {
    const { watcher } = this.#parts
    const ours = batch.filter(({ key }) => key.startsWith(this.#prefix))
    await this.#learnBefore(ours)
    for (const change of ours) {
      this.#deliver(change)
      while (isBehind(watcher)) await later()
    }
    this.#revision = batch.at(-1)?.revision ?? this.#revision
  }

  #deliver({ key, revision, bytes }: Change): void {
    const { watcher } = this.#parts
    const previous = this.#known.get(key)
    const entry = bytes === undefined ? undefined : this.#made(key, revision, bytes)
    // An unreadable value is not delivered; whatever becomes of it is a change of what was there
    // before.
    if (entry === undefined && bytes !== undefined) return
    this.#known.set(key, entry)
    if (entry === undefined && previous === undefined) return
    // It is delivered and not kept, so it needs no time.
    const event = cacheEvent(revision, entry, previous, 0)
    const type = transition(event, watcher.matches)
    if (type !== undefined) watcher.deliver(type, event)
  }

  /** What has not changed since the watch begins is as it was then. */
  async #learnBefore(changes: readonly Change[]): Promise<void> {
    const { storage, from } = this.#parts
    const unknown = new Set(changes.map(({ key }) => key).filter((key) => !this.#known.has(key)))
    await Promise.all(
      [...unknown].map(async (key) => {
        const { value } = await storage.get(key, from)
        this.#known.set(key, value && this.#made(key, value.revision, value.bytes))
      }),
    )
  }

  /**
   * Undefined where it cannot be read, whatever the reason: that is one object's trouble and not
   * that of its neighbours.
   */
  #made(key: string, revision: Revision, bytes: Buffer): Entry | undefined {
    try {
      return this.#maker.make(key, revision, bytes)
    } catch (error) {
      if (!(error instanceof Unreadable)) this.#parts.report(error)
      return undefined
    }
  }

  /**
   * If memory holds everything that is still to be delivered, it is delivered at once, and the
   * watch is like any other.
   */
  #handOver(): void {
    if (this.#live !== undefined) return
    const { cache, watcher } = this.#parts
    const rest = cache.history.after(this.#revision)
    if (rest === undefined || rest.length > queuedMax) return
    watcher.receive(rest)
    // The store's history may be ahead of memory: its events are not repeated.
    const live = watcher.since(this.#revision)
    this.#live = live
    cache.fanOut.add(live)
    this.#known.clear()
    this.#stop.abort()
  }
}

/** However many changes come at once, no more are delivered than the client reads. */
const isBehind = ({ queued, queuedBytes, ended }: Watcher) =>
  !ended && (queued > queuedMax || queuedBytes > queuedBytesMax)

const later = () => new Promise((resolve) => setTimeout(resolve, lookIntervalMs))
