/**
 * A store that is some revisions behind another store, like a lagging replica. Reads return an
 * older revision, and changes arrive late. Writes are passed to the other store at once.
 */
import type {
  Change,
  DeleteCondition,
  KeyRange,
  Outcome,
  Page,
  PutCondition,
  AtRevision,
  Revision,
  Storage,
  Stored,
} from '#storage/storage.ts'

type LocalStorage = Omit<Storage, 'currentRevision'> & { currentRevision(): Revision }

export class LaggingStore implements Storage {
  readonly #ahead: LocalStorage
  readonly #lag: number

  constructor(ahead: LocalStorage, revisions: number) {
    this.#ahead = ahead
    this.#lag = revisions
  }

  currentRevision(): Revision {
    const newest = this.#ahead.currentRevision()
    return Math.max(newest - this.#lag, this.#ahead.compactedUpTo(), 1)
  }

  get(key: string, at?: Revision): Promise<AtRevision<Stored | undefined>> {
    return this.#ahead.get(key, at || this.currentRevision())
  }

  list(
    range: KeyRange,
    options: { at?: Revision; limit?: number } = {},
  ): Promise<AtRevision<Page>> {
    return this.#ahead.list(range, { ...options, at: options.at || this.currentRevision() })
  }

  async count(range: KeyRange): Promise<AtRevision<number>> {
    const { revision, value } = await this.list(range)
    return { revision, value: value.items.length }
  }

  put(key: string, bytes: Buffer, condition: PutCondition): Promise<Outcome> {
    return this.#ahead.put(key, bytes, condition)
  }

  delete(key: string, condition: DeleteCondition): Promise<Outcome> {
    return this.#ahead.delete(key, condition)
  }

  /** Delays each change until the other store has made as many later changes as this store lags. */
  async *changes(options: { after: Revision; signal: AbortSignal }): AsyncGenerator<Change[]> {
    const held: Change[][] = []
    for await (const batch of this.#ahead.changes(options)) {
      held.push(batch)
      const visible = this.currentRevision()
      while (held.length > 0 && ((held[0] as Change[]).at(-1)?.revision ?? 0) <= visible)
        yield held.shift() as Change[]
    }
  }

  compact(upTo: Revision): Promise<void> {
    return this.#ahead.compact(upTo)
  }

  compactedUpTo(): Revision {
    return this.#ahead.compactedUpTo()
  }

  trouble(): string | undefined {
    return this.#ahead.trouble()
  }

  /** Another server owns and closes the other store. */
  close(): Promise<void> {
    return Promise.resolve()
  }
}
