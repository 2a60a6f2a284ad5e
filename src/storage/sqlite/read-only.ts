/**
 * The database of a data directory, opened read-only, even while a server uses it. It takes no lock
 * and stays at the revision at which it was opened. Writes and feeds are rejected.
 */
import {
  type Change,
  type KeyRange,
  type Page,
  type AtRevision,
  type Revision,
  type Storage,
  StorageUnavailable,
  type Stored,
} from '#storage/storage.ts'
import { Reader } from './reader.ts'

const readOnly = () => new StorageUnavailable('the store is opened for reading only')

export class ReadOnlySqlite implements Storage {
  readonly #reader: Reader
  readonly #revision: Revision

  constructor(file: string) {
    this.#reader = new Reader(file)
    this.#revision = this.#reader.newestRevision()
  }

  async get(key: string, at: Revision = this.#revision): Promise<AtRevision<Stored | undefined>> {
    return { revision: at, value: this.#reader.get(key, at) }
  }

  async list(
    range: KeyRange,
    options: { at?: Revision; limit?: number } = {},
  ): Promise<AtRevision<Page>> {
    const { at = this.#revision, limit = Number.MAX_SAFE_INTEGER } = options
    const items = this.#reader.list(range, at, limit)
    const last = items.at(-1)
    if (last === undefined || items.length < limit)
      return { revision: at, value: { items, more: false, remaining: 0 } }
    const remaining = this.#reader.count({ start: `${last.key}\0`, end: range.end }, at)
    return { revision: at, value: { items, more: remaining > 0, remaining } }
  }

  async count(range: KeyRange): Promise<AtRevision<number>> {
    return { revision: this.#revision, value: this.#reader.count(range, this.#revision) }
  }

  async put(): Promise<never> {
    throw readOnly()
  }

  async delete(): Promise<never> {
    throw readOnly()
  }

  changes(): AsyncIterable<Change[]> {
    throw readOnly()
  }

  currentRevision(): Revision {
    return this.#revision
  }

  async compact(): Promise<void> {
    throw readOnly()
  }

  compactedUpTo(): Revision {
    return this.#reader.compacted()
  }

  trouble(): undefined {
    return undefined
  }

  async close(): Promise<void> {
    this.#reader.close()
  }
}
