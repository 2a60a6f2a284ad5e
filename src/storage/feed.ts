/**
 * The feed of a store in this process: one publisher, any number of readers. A reader first reads
 * the history, then gets each batch when it is published. A reader that falls too far behind reads
 * the history again. So it needs only a bounded queue, misses no change and never delays the
 * publisher.
 */
import { assert } from '#base/assert.ts'
import { type Change, type Revision, RevisionCompacted, sizeBytes } from './storage.ts'

/**
 * Changes a reader may leave unread in memory: a burst of seconds; beyond it history is the cheaper
 * queue.
 */
const queuedChangesMax = 10_000

/** Bytes a reader may leave unread in memory, for the same reason. */
const queuedBytesMax = 32 * 1024 * 1024

export interface FeedSource {
  /** Some changes after a revision, oldest first, in whole revisions; empty if there are none. */
  history(after: Revision): Change[]
  compactedUpTo(): Revision
}

export interface FeedOptions {
  readonly after: Revision
  readonly signal: AbortSignal
}

export class Feed {
  #source: FeedSource
  #readers = new Set<FeedReader>()
  #failure: Error | undefined

  constructor(source: FeedSource) {
    this.#source = source
  }

  /**
   * Hands a batch, in revision order, to every reader. Readers that wait are resolved before this
   * returns.
   */
  publish(batch: Change[]): void {
    if (batch.length === 0) return
    for (const reader of this.#readers) reader.offer(batch)
  }

  /** Ends every reader, now and later, with an error. */
  end(failure: Error): void {
    this.#failure = failure
    for (const reader of this.#readers) reader.fail(failure)
    this.#readers.clear()
  }

  read(options: FeedOptions): AsyncIterable<Change[]> {
    return {
      [Symbol.asyncIterator]: () => {
        const reader = new FeedReader(this.#source, options, () => this.#readers.delete(reader))
        if (this.#failure) reader.fail(this.#failure)
        else this.#readers.add(reader)
        reader.listen()
        return reader
      },
    }
  }
}

/**
 * Not an async generator. A generator would add turns of the event loop between publisher and
 * reader. The writer would get its result before the reader gets the change.
 */
class FeedReader implements AsyncIterator<Change[]> {
  #source: FeedSource
  #signal: AbortSignal
  #leave: () => void
  /** Everything up to this revision was delivered. */
  #delivered: Revision
  /** Whether the reader gets published batches; otherwise it still reads the history. */
  #live = false
  #queue: Change[][] = []
  #queuedChanges = 0
  #queuedBytes = 0
  #waiting: PromiseWithResolvers<IteratorResult<Change[]>> | undefined
  #ended = false
  #failure: Error | undefined
  #abort = () => this.#finish()

  constructor(source: FeedSource, options: FeedOptions, leave: () => void) {
    this.#source = source
    this.#signal = options.signal
    this.#delivered = options.after
    this.#leave = leave
  }

  listen(): void {
    if (this.#signal.aborted) this.#finish()
    else this.#signal.addEventListener('abort', this.#abort, { once: true })
  }

  next(): Promise<IteratorResult<Change[]>> {
    assert(!this.#waiting, 'a feed is read by one reader, one batch at a time')
    const failure = this.#failure
    if (failure) {
      this.#failure = undefined
      return Promise.reject(failure)
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    const queued = this.#queue.shift()
    if (queued) return Promise.resolve(this.#take(queued))
    if (!this.#live) {
      try {
        const past = this.#past()
        if (past.length > 0) return Promise.resolve(this.#take(past))
      } catch (error) {
        this.#finish()
        return Promise.reject(error)
      }
      this.#live = true
    }
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  return(): Promise<IteratorResult<Change[]>> {
    this.#finish()
    return Promise.resolve({ done: true, value: undefined })
  }

  offer(published: Change[]): void {
    if (!this.#live) return
    const batch = this.#unseen(published)
    if (batch.length === 0) return
    const waiting = this.#waiting
    if (waiting) {
      this.#waiting = undefined
      this.#delivered = lastRevision(batch)
      waiting.resolve({ done: false, value: batch })
      return
    }
    this.#queue.push(batch)
    this.#queuedChanges += batch.length
    this.#queuedBytes += sizeBytes(batch)
    if (this.#queuedChanges > queuedChangesMax || this.#queuedBytes > queuedBytesMax) {
      this.#forgetQueue()
      this.#live = false
    }
  }

  fail(failure: Error): void {
    if (this.#ended) return
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#finish()
    if (waiting) waiting.reject(failure)
    else this.#failure = failure
  }

  #past(): Change[] {
    const compacted = this.#source.compactedUpTo()
    if (this.#delivered < compacted) throw new RevisionCompacted(compacted)
    return this.#source.history(this.#delivered)
  }

  #take(batch: Change[]): IteratorResult<Change[]> {
    if (this.#queuedChanges > 0) {
      this.#queuedChanges -= batch.length
      this.#queuedBytes -= sizeBytes(batch)
    }
    this.#delivered = lastRevision(batch)
    return { done: false, value: batch }
  }

  /** A feed that begins at a future revision omits what is published before it. */
  #unseen(batch: Change[]): Change[] {
    const first = batch[0]
    if (first.revision > this.#delivered) return batch
    return batch.filter((change) => change.revision > this.#delivered)
  }

  #forgetQueue(): void {
    this.#queue = []
    this.#queuedChanges = 0
    this.#queuedBytes = 0
  }

  #finish(): void {
    if (this.#ended) return
    this.#ended = true
    this.#forgetQueue()
    this.#signal.removeEventListener('abort', this.#abort)
    this.#leave()
    this.#waiting?.resolve({ done: true, value: undefined })
    this.#waiting = undefined
  }
}

function lastRevision(batch: Change[]): Revision {
  return batch[batch.length - 1].revision
}
