/**
 * Serves a watch that starts before the history in memory. It reads the store's history, no faster
 * than its client reads, until the watch cache can take over. It holds a few batches and the last
 * state of each changed object. If the store compacts faster than the client reads, the watch ends
 * and the client resumes from its last event.
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

/** Pending events of a watcher before reading pauses. */
const queuedMax = 1000
/** The bytes of pending events before reading pauses: far below the limit that ends a watch. */
const queuedBytesMax = 8 << 20
/** How often a slow watcher is checked. */
const lookIntervalMs = 10

export interface CatchUpParts {
  readonly storage: Storage
  readonly parse: ParseStored
  readonly cache: ResourceCache
  readonly watcher: Watcher
  readonly from: Revision
  /** Also deliver changes from before the current definition of the resource. */
  readonly beforeDefined: boolean
  /** Called if the history cannot be read. */
  readonly report: (error: unknown) => void
}

/** Returns undefined if the store has compacted the start of the watch. */
export async function catchUp(parts: CatchUpParts): Promise<CatchUp | undefined> {
  const { storage, cache, from, beforeDefined } = parts
  if (!beforeDefined && from < (cache.resource.since ?? 0)) return undefined
  try {
    // The key never exists, so this read only checks whether the revision is available.
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
  /** The state of each changed object before its next change. */
  readonly #known = new Map<string, Entry | undefined>()
  #revision: Revision
  /** The subscriber in the watch cache, after the handover. */
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

  /** Everything up to this revision was delivered; undefined after the handover. */
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
    // An unreadable value is skipped: the next readable state is a change of the last readable one.
    if (entry === undefined && bytes !== undefined) return
    this.#known.set(key, entry)
    if (entry === undefined && previous === undefined) return
    // The event is not stored in the history, so it needs no time.
    const event = cacheEvent(revision, entry, previous, 0)
    const type = transition(event, watcher.matches)
    if (type !== undefined) watcher.deliver(type, event)
  }

  /** Reads the state of objects at the start of the watch, unless a later state is known. */
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

  /** Returns undefined if one object cannot be read; the others must still be delivered. */
  #made(key: string, revision: Revision, bytes: Buffer): Entry | undefined {
    try {
      return this.#maker.make(key, revision, bytes)
    } catch (error) {
      if (!(error instanceof Unreadable)) this.#parts.report(error)
      return undefined
    }
  }

  /**
   * If the watch cache holds all remaining changes, delivers them and makes this a normal watch.
   */
  #handOver(): void {
    if (this.#live !== undefined) return
    const { cache, watcher } = this.#parts
    const rest = cache.history.after(this.#revision)
    if (rest === undefined || rest.length > queuedMax) return
    watcher.receive(rest)
    // The store may be ahead of the watch cache: skip its events up to the delivered revision.
    const live = watcher.since(this.#revision)
    this.#live = live
    cache.fanOut.add(live)
    this.#known.clear()
    this.#stop.abort()
  }
}

/** Delivery pauses while the client reads too slowly. */
const isBehind = ({ queued, queuedBytes, ended }: Watcher) =>
  !ended && (queued > queuedMax || queuedBytes > queuedBytesMax)

const later = () => new Promise((resolve) => setTimeout(resolve, lookIntervalMs))
