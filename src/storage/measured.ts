/** A store that reports the duration of each operation to an observer. It adds nothing else. */
import type { DeleteCondition, KeyRange, PutCondition, Revision } from './storage.ts'
import { StorageAround } from './storage-around.ts'

export type StoreOperation = 'get' | 'list' | 'create' | 'update' | 'delete'
export type Took = (operation: StoreOperation, key: string, ms: number) => void

export class MeasuredStorage extends StorageAround {
  /** Called for every response; undefined without an observer. */
  took: Took | undefined

  override get(key: string, at?: Revision) {
    return this.#timed('get', key, this.inner.get(key, at))
  }

  override list(range: KeyRange, options?: { at?: Revision; limit?: number }) {
    return this.#timed('list', range.start, this.inner.list(range, options))
  }

  override put(key: string, bytes: Buffer, condition: PutCondition) {
    const operation = condition.ifRevision === 0 ? 'create' : 'update'
    return this.#timed(operation, key, this.inner.put(key, bytes, condition))
  }

  override delete(key: string, condition: DeleteCondition) {
    return this.#timed('delete', key, this.inner.delete(key, condition))
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
