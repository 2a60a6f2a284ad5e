/**
 * The feed of one reader: a watch of a key range that continues after a server fails. When its
 * stream breaks, it continues at another server after the last received revision, so nothing is
 * lost or repeated. A slow reader delays only its own stream.
 */
import type { ClientDuplexStream } from '@grpc/grpc-js'
import { assert } from '#base/assert.ts'
import {
  type Change,
  type KeyRange,
  type Revision,
  RevisionCompacted,
  RevisionSetBack,
  sizeBytes,
  StorageUnavailable,
} from '#storage/storage.ts'
import type { Connection } from './connection.ts'
import { describeFailure } from './failure.ts'
import {
  decodeWatch,
  encodeWatchCreate,
  encodeWatchProgress,
  type WatchEvent,
  type WatchResponse,
} from './messages.ts'
import type { Progress } from './progress.ts'

/** The stream is paused when this many received changes are unread. */
const queuedChangesMax = 2000

/** The same limit in bytes, as for readers of a local store. */
const queuedBytesMax = 32 * 1024 * 1024

/**
 * The pauses before a broken stream is reopened: short at first, because usually one server
 * restarts.
 */
const retryMs = [20, 100, 300]

/** A progress request without a response is repeated after this time: a busy server drops it. */
const progressRetryMs = 100

/**
 * A marker for a waiting reader is written only after this time, because changes may arrive by
 * themselves.
 */
const markerDelayMs = 20

export interface WatchParts {
  readonly connection: Connection
  readonly range: KeyRange
  readonly progress: Progress
  /** A linearizable read of the newest revision. */
  readonly newest: () => Promise<Revision>
}

export interface WatchOptions {
  readonly after: Revision
  readonly signal: AbortSignal
  readonly progress?: (revision: Revision) => void
}

type Queued =
  | { readonly batch: Change[] }
  /** Everything up to this revision was received. */
  | { readonly progress: Revision }

type Result = IteratorResult<Change[]>

export class Watch implements AsyncIterator<Change[]> {
  #connection: Connection
  #range: KeyRange
  #progress: Progress
  #newest: () => Promise<Revision>
  #options: WatchOptions
  #ended: (watch: Watch) => void
  #stream: ClientDuplexStream<Buffer, Buffer> | undefined
  /** Everything up to this revision was received, but perhaps not yet read. */
  #received: Revision
  #queue: Queued[] = []
  #queuedChanges = 0
  #queuedBytes = 0
  #waiting: PromiseWithResolvers<Result> | undefined
  #failure: Error | undefined
  #over = false
  #attempts = 0
  #wasConnected = false
  #retryTimer: NodeJS.Timeout | undefined
  /** The revision that readers wait for. */
  #wanted: Revision = 0
  /** The revision of a first progress response, which a second one must confirm. */
  #unconfirmed: Revision | undefined
  #progressTimer: NodeJS.Timeout | undefined
  #abort = () => this.#end()

  constructor(
    { connection, range, progress, newest }: WatchParts,
    options: WatchOptions,
    ended: (watch: Watch) => void,
  ) {
    this.#connection = connection
    this.#range = range
    this.#progress = progress
    this.#newest = newest
    this.#options = options
    this.#ended = ended
    this.#received = options.after
  }

  start(): void {
    this.#options.signal.addEventListener('abort', this.#abort, { once: true })
    if (this.#options.signal.aborted) this.#end()
    else this.#connect()
  }

  next(): Promise<Result> {
    assert(!this.#waiting, 'a feed is read by one reader, one batch at a time')
    for (let queued = this.#queue.shift(); queued; queued = this.#queue.shift()) {
      if ('progress' in queued) {
        this.#options.progress?.(queued.progress)
        continue
      }
      this.#queuedChanges -= queued.batch.length
      this.#queuedBytes -= sizeBytes(queued.batch)
      if (!this.#isFull) this.#stream?.resume()
      return Promise.resolve({ done: false, value: queued.batch })
    }
    const failure = this.#failure
    this.#failure = undefined
    if (failure) return Promise.reject(failure)
    if (this.#over) return Promise.resolve({ done: true, value: undefined })
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  return(): Promise<Result> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  fail(failure: Error): void {
    if (this.#over) return
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting.reject(failure)
    else this.#failure = failure
    this.#end()
  }

  /**
   * Ensures that the reader gets a progress report for `revision`, even if no more changes arrive.
   */
  wantProgress(revision: Revision): void {
    if (revision > this.#wanted) this.#wanted = revision
    if (this.#received < this.#wanted && !this.#progressTimer) this.#askProgress()
  }

  #connect(): void {
    let stream: ClientDuplexStream<Buffer, Buffer>
    try {
      stream = this.#connection.watch()
    } catch (error) {
      this.fail(error as Error)
      return
    }
    this.#stream = stream
    stream.on('data', (bytes: Buffer) => this.#stream === stream && this.#read(bytes))
    stream.on('error', (error) => this.#broken(stream, error))
    stream.on('end', () => this.#broken(stream, undefined))
    stream.write(encodeWatchCreate(this.#range.start, this.#range.end, this.#received + 1))
  }

  /** A response that etcd would not send ends the feed, not the process. */
  #read(bytes: Buffer): void {
    try {
      this.#handle(decodeWatch(bytes))
    } catch (error) {
      const { endpoints } = this.#connection
      this.fail(new StorageUnavailable(describeFailure(error, endpoints), { cause: error }))
    }
  }

  #handle(response: WatchResponse): void {
    if (response.canceled) {
      this.#canceled(response)
      return
    }
    if (!response.created && response.revision === 0) {
      // etcd never reports revision 0. Servers that imitate etcd send it when they end a watch
      // without cancelling it.
      if (this.#stream) this.#broken(this.#stream, undefined)
      return
    }
    this.#attempts = 0
    if (response.created) this.#created(response.revision)
    if (response.events.length > 0) this.#receiveEvents(response.events)
    else if (response.watchId < 0) this.#receiveProgress(response.revision)
    else if (!response.created) this.#progressed(response.revision)
  }

  /**
   * If the server's revision is lower than the last received one, the server lags behind or the
   * store was restored from a backup.
   */
  #created(revision: Revision): void {
    const isAgain = this.#wasConnected
    this.#wasConnected = true
    if (!isAgain || revision >= this.#received) return
    const known = this.#received
    this.#newest().then(
      (newest) => newest < known && this.fail(new RevisionSetBack(newest, known)),
      // If no server responds, the stream breaks and is reopened.
      () => {},
    )
  }

  /** A marker is not a change: its event shows that all earlier events were received. */
  #receiveEvents(events: WatchEvent[]): void {
    const last = events[events.length - 1].item
    const { markerKey } = this.#progress
    const batch = events.filter(({ item }) => item.key !== markerKey).map(toChange)
    if (batch.length > 0) this.#push(batch)
    if (last.key === markerKey) this.#progressed(last.modRevision)
  }

  #push(batch: Change[]): void {
    this.#received = Math.max(this.#received, batch[batch.length - 1].revision)
    const waiting = this.#waiting
    if (waiting) {
      this.#waiting = undefined
      waiting.resolve({ done: false, value: batch })
      return
    }
    this.#queue.push({ batch })
    this.#queuedChanges += batch.length
    this.#queuedBytes += sizeBytes(batch)
    if (this.#isFull) this.#stream?.pause()
  }

  get #isFull(): boolean {
    return this.#queuedChanges >= queuedChangesMax || this.#queuedBytes >= queuedBytesMax
  }

  /**
   * Older servers may report progress before they sent earlier events. The response to a second
   * request follows those events, so the first report is valid only then.
   */
  #receiveProgress(revision: Revision): void {
    const confirmed = this.#unconfirmed
    if (confirmed === undefined) {
      this.#unconfirmed = revision
      this.#askProgress()
      return
    }
    clearTimeout(this.#progressTimer)
    this.#progressTimer = undefined
    this.#unconfirmed = undefined
    this.#progressed(confirmed)
    this.wantProgress(this.#wanted)
  }

  #progressed(revision: Revision): void {
    if (revision <= this.#received) return
    this.#received = revision
    if (this.#waiting) this.#options.progress?.(revision)
    else this.#queue.push({ progress: revision })
  }

  #askProgress(): void {
    clearTimeout(this.#progressTimer)
    const { answersProgressRequests } = this.#progress
    if (answersProgressRequests) this.#stream?.write(encodeWatchProgress())
    this.#progressTimer = setTimeout(
      () => {
        this.#progressTimer = undefined
        if (!answersProgressRequests && this.#received < this.#wanted)
          void this.#progress.mark(this.#wanted)
        this.wantProgress(this.#wanted)
      },
      answersProgressRequests ? progressRetryMs : markerDelayMs,
    )
    this.#progressTimer.unref()
  }

  #canceled(response: WatchResponse): void {
    if (response.compactRevision > 0) this.fail(new RevisionCompacted(response.compactRevision))
    else if (this.#stream) this.#broken(this.#stream, new Error(response.cancelReason))
  }

  #broken(stream: ClientDuplexStream<Buffer, Buffer>, error: Error | undefined): void {
    if (this.#over || this.#stream !== stream) return
    this.#leaveStream()
    this.#connection.watchFailed(error)
    const wait = retryMs[Math.min(this.#attempts++, retryMs.length - 1)]
    this.#retryTimer = setTimeout(() => this.#connect(), wait)
  }

  #leaveStream(): void {
    const stream = this.#stream
    this.#stream = undefined
    this.#unconfirmed = undefined
    // A cancelled stream ends with an error, which is expected.
    stream?.on('error', () => {})
    stream?.cancel()
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#progressTimer)
    this.#leaveStream()
    this.#options.signal.removeEventListener('abort', this.#abort)
    this.#queue = []
    this.#waiting?.resolve({ done: true, value: undefined })
    this.#waiting = undefined
    this.#ended(this)
  }
}

function toChange({ deleted, item }: WatchEvent): Change {
  return {
    key: item.key,
    revision: item.modRevision,
    bytes: deleted ? undefined : item.value,
  }
}
