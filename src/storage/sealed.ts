/**
 * Encrypts the values of resources that have a sealer; other values are unchanged. Readers get
 * plain bytes: at all revisions, in lost races and on the feed. A value that no key decrypts is
 * returned encrypted and marked (markUnopened), so that the rest of its list or batch is readable.
 */
import type { Sealer } from './seal/sealer.ts'
import {
  type Change,
  type KeyRange,
  markStale,
  markUnopened,
  type Outcome,
  type PutCondition,
  type Revision,
  type Storage,
  type Stored,
} from './storage.ts'
import { StorageAround } from './storage-around.ts'

export interface SealedParts {
  readonly inner: Storage
  /** Sealers by the prefix of a key: `/registry/secrets`, `/registry/services/specs`. */
  readonly sealers: ReadonlyMap<string, Sealer>
  /** The prefix of all keys: '/registry'. */
  readonly root: string
}

export class SealedStorage extends StorageAround {
  readonly #sealers: ReadonlyMap<string, Sealer>
  readonly #root: string
  /** The plain bytes of own writes by their encrypted buffer, which the feed returns. */
  readonly #plain = new WeakMap<Buffer, Buffer>()

  constructor({ inner, sealers, root }: SealedParts) {
    super(inner)
    this.#sealers = sealers
    this.#root = root
  }

  override async get(key: string, at?: Revision) {
    const read = await this.inner.get(key, at)
    return { ...read, value: this.#openStored(read.value) }
  }

  override async list(range: KeyRange, options?: { at?: Revision; limit?: number }) {
    const { revision, value } = await this.inner.list(range, options)
    const items = value.items.map((item) => this.#opened(item))
    return { revision, value: { ...value, items } }
  }

  override put(key: string, bytes: Buffer, condition: PutCondition): Promise<Outcome> {
    const sealed = this.#seal(key, bytes)
    return this.inner.put(key, sealed, condition).then((outcome) => this.#outcome(outcome))
  }

  override delete(key: string, condition: { ifRevision: Revision }): Promise<Outcome> {
    return this.inner.delete(key, condition).then((outcome) => this.#outcome(outcome))
  }

  /**
   * Adds exactly one promise turn to the inner feed, as put adds one to the inner put. So the feed
   * stays ahead of the writer, which an async generator would not guarantee.
   */
  override changes(options: Parameters<Storage['changes']>[0]): AsyncIterable<Change[]> {
    const inner = this.inner.changes(options)
    const openBatch = (result: IteratorResult<Change[]>): IteratorResult<Change[]> =>
      result.done
        ? result
        : { done: false, value: result.value.map((change) => this.#opened(change)) }
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = inner[Symbol.asyncIterator]()
        return {
          next: () => iterator.next().then(openBatch),
          return: async () => {
            await iterator.return?.()
            return { done: true, value: undefined }
          },
        }
      },
    }
  }

  /** Forks do not share opened values. */
  override origin() {
    return undefined
  }

  #sealerOf(key: string): Sealer | undefined {
    const second = key.indexOf('/', this.#root.length + 1)
    const sealer = this.#sealers.get(key.slice(0, second))
    if (sealer !== undefined) return sealer
    const third = key.indexOf('/', second + 1)
    return third === -1 ? undefined : this.#sealers.get(key.slice(0, third))
  }

  #seal(key: string, bytes: Buffer): Buffer {
    const sealer = this.#sealerOf(key)
    if (sealer === undefined) return bytes
    const sealed = sealer.seal(key, bytes)
    this.#plain.set(sealed, bytes)
    return sealed
  }

  #outcome(outcome: Outcome): Outcome {
    return outcome.ok ? outcome : { ok: false, current: this.#openStored(outcome.current) }
  }

  #openStored(stored: Stored | undefined): Stored | undefined {
    return stored && this.#opened(stored)
  }

  #opened<T extends Stored | Change>(one: T): T {
    if (one.bytes === undefined) return one
    const bytes = this.#open(one.key, one.bytes)
    return bytes === one.bytes ? one : { ...one, bytes }
  }

  #open(key: string, stored: Buffer): Buffer {
    const sealer = this.#sealerOf(key)
    if (sealer === undefined) return stored
    const own = this.#plain.get(stored)
    if (own !== undefined) return own
    const opened = sealer.open(key, stored)
    if ('problem' in opened) {
      markUnopened(stored, opened.problem)
      return stored
    }
    if (opened.stale) markStale(opened.bytes)
    return opened.bytes
  }
}
