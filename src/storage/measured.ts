/** A store that reports the duration of each operation to an observer. It adds nothing else. */
import type { DeleteCondition, KeyRange, PutCondition, Revision, Storage } from './storage.ts'

export type StoreOperation = 'get' | 'list' | 'create' | 'update' | 'delete'
export type Took = (operation: StoreOperation, key: string, ms: number) => void

export class MeasuredStorage implements Storage {
  readonly #inner: Storage
  /** Called for every response; undefined without an observer. */
  took: Took | undefined

  constructor(inner: Storage) {
    this.#inner = inner
  }

  get(key: string, at?: Revision) {
    return this.#timed('get', key, this.#inner.get(key, at))
  }

  list(range: KeyRange, options?: { at?: Revision; limit?: number }) {
    return this.#timed('list', range.start, this.#inner.list(range, options))
  }

  count(range: KeyRange) {
    return this.#inner.count(range)
  }

  put(key: string, bytes: Buffer, condition: PutCondition) {
    const operation = condition.ifRevision === 0 ? 'create' : 'update'
    return this.#timed(operation, key, this.#inner.put(key, bytes, condition))
  }

  delete(key: string, condition: DeleteCondition) {
    return this.#timed('delete', key, this.#inner.delete(key, condition))
  }

  changes(options: Parameters<Storage['changes']>[0]) {
    return this.#inner.changes(options)
  }

  currentRevision() {
    return this.#inner.currentRevision()
  }

  compact(upTo: Revision) {
    return this.#inner.compact(upTo)
  }

  compactedUpTo() {
    return this.#inner.compactedUpTo()
  }

  trouble() {
    return this.#inner.trouble()
  }

  origin() {
    return this.#inner.origin?.()
  }

  async sizes() {
    return (await this.#inner.sizes?.()) ?? new Map<string, number>()
  }

  close() {
    return this.#inner.close()
  }

  #timed<T>(operation: StoreOperation, key: string, answer: Promise<T>): Promise<T> {
    const { took } = this
    if (took === undefined) return answer
    const began = performance.now()
    const done = () => took(operation, key, performance.now() - began)
    answer.then(done, done)
    return answer
  }
}
