/** Passes every operation on to another store. Subclasses replace what they add to. */
import type {
  Change,
  DeleteCondition,
  KeyRange,
  PutCondition,
  Revision,
  Storage,
} from './storage.ts'

export class StorageAround implements Storage {
  /** The store that gets the operations. */
  readonly inner: Storage

  constructor(inner: Storage) {
    this.inner = inner
  }

  get(key: string, at?: Revision): ReturnType<Storage['get']> {
    return this.inner.get(key, at)
  }

  list(range: KeyRange, options?: Parameters<Storage['list']>[1]): ReturnType<Storage['list']> {
    return this.inner.list(range, options)
  }

  count(range: KeyRange): ReturnType<Storage['count']> {
    return this.inner.count(range)
  }

  put(key: string, bytes: Buffer, condition: PutCondition): ReturnType<Storage['put']> {
    return this.inner.put(key, bytes, condition)
  }

  delete(key: string, condition: DeleteCondition): ReturnType<Storage['delete']> {
    return this.inner.delete(key, condition)
  }

  changes(options: Parameters<Storage['changes']>[0]): AsyncIterable<Change[]> {
    return this.inner.changes(options)
  }

  currentRevision(): Revision | Promise<Revision> {
    return this.inner.currentRevision()
  }

  compact(upTo: Revision): Promise<void> {
    return this.inner.compact(upTo)
  }

  compactedUpTo(): Revision {
    return this.inner.compactedUpTo()
  }

  trouble(): string | undefined {
    return this.inner.trouble()
  }

  origin(): ReturnType<NonNullable<Storage['origin']>> {
    return this.inner.origin?.()
  }

  async sizes(): Promise<ReadonlyMap<string, number>> {
    return (await this.inner.sizes?.()) ?? new Map()
  }

  close(): Promise<void> {
    return this.inner.close()
  }
}
