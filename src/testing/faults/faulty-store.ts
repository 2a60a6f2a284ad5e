/** A store that tests can make slow, full or unavailable. Without a fault it adds nothing. */
import {
  type Change,
  type DeleteCondition,
  type KeyRange,
  type Outcome,
  type Page,
  type PutCondition,
  type AtRevision,
  type Revision,
  type Storage,
  type Stored,
  type StoreState,
  StorageUnavailable,
} from '#storage/storage.ts'
import { requireValid } from '#testing/value-schema.ts'

export const storeFaults = ['full', 'unavailable'] as const

/** `full`: writes fail, reads and deletions succeed. `unavailable`: all operations fail. */
export type StoreFault = (typeof storeFaults)[number]

const messages: Record<StoreFault, string> = {
  full: 'the store is full (injected by a fault)',
  unavailable: 'the store does not answer (injected by a fault)',
}

type LocalStorage = Omit<Storage, 'currentRevision'> & { currentRevision(): Revision }

export class FaultyStore implements Storage {
  readonly #store: LocalStorage
  readonly #state: StoreFaults

  constructor(store: LocalStorage, state: StoreFaults) {
    this.#store = store
    this.#state = state
  }

  get(key: string, at?: Revision): Promise<AtRevision<Stored | undefined>> {
    return this.#state.read(() => this.#store.get(key, at))
  }

  list(range: KeyRange, options?: { at?: Revision; limit?: number }): Promise<AtRevision<Page>> {
    return this.#state.read(() => this.#store.list(range, options))
  }

  count(range: KeyRange): Promise<AtRevision<number>> {
    return this.#state.read(() => this.#store.count(range))
  }

  put(key: string, bytes: Buffer, condition: PutCondition): Promise<Outcome> {
    return this.#state.write(() => this.#store.put(key, bytes, condition))
  }

  delete(key: string, condition: DeleteCondition): Promise<Outcome> {
    return this.#state.read(() => this.#store.delete(key, condition))
  }

  changes(options: { after: Revision; signal: AbortSignal }): AsyncIterable<Change[]> {
    return this.#store.changes(options)
  }

  /** A read of the newest revision needs the store, even if the watch cache has the objects. */
  currentRevision(): Revision | Promise<Revision> {
    if (!this.#state.affectsReads) return this.#store.currentRevision()
    const revision = this.#state.read(() => Promise.resolve(this.#store.currentRevision()))
    // Some readers look only for a revision that is known at once.
    revision.catch(() => {})
    return revision
  }

  origin(): StoreState | undefined {
    return this.#store.origin?.()
  }

  compact(upTo: Revision): Promise<void> {
    return this.#store.compact(upTo)
  }

  compactedUpTo(): Revision {
    return this.#store.compactedUpTo()
  }

  trouble(): string | undefined {
    return this.#state.trouble() ?? this.#store.trouble()
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** The faults of one cluster's store. They last until `recover`. */
export class StoreFaults {
  #fault: StoreFault | undefined
  #delayMs = 0
  readonly #compactStore: () => Promise<void>

  constructor(compactStore: () => Promise<void>) {
    this.#compactStore = compactStore
  }

  /** Delays every read and write by this time. */
  slow(delayMs: number): void {
    requireValid({ type: 'number', minimum: 0 }, delayMs, 'the delay')
    this.#delayMs = delayMs
  }

  fail(fault: StoreFault): void {
    requireValid({ type: 'string', enum: storeFaults }, fault, 'the fault of a store')
    this.#fault = fault
  }

  get affectsReads(): boolean {
    return this.#fault === 'unavailable' || this.#delayMs > 0
  }

  recover(): void {
    this.#fault = undefined
    this.#delayMs = 0
  }

  /** Compacts all history: lists at older revisions get 410. */
  compact(): Promise<void> {
    return this.#compactStore()
  }

  trouble(): string | undefined {
    return this.#fault && messages[this.#fault]
  }

  read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#fault === 'unavailable') return Promise.reject(this.#unavailable())
    return this.#late(work)
  }

  write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#fault !== undefined) return Promise.reject(this.#unavailable())
    return this.#late(work)
  }

  #unavailable = () => new StorageUnavailable(this.trouble())

  #late<T>(work: () => Promise<T>): Promise<T> {
    if (this.#delayMs === 0) return work()
    return new Promise((resolve, reject) => {
      setTimeout(() => work().then(resolve, reject), this.#delayMs)
    })
  }
}
