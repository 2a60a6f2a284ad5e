/**
 * The feed of one reader: a watch of a range that survives the servers it runs on. When its stream
 * breaks it goes on at another server, from the revision after the last one it received, so that
 * nothing is missing and nothing comes twice. A reader that is slow slows down its own stream and
 * nothing else.
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

/** Changes received and not yet read, beyond which the stream is held back. */
const queuedChangesMax = 2000

/** Bytes of them, likewise: as many as a reader of a store in this process may leave unread. */
const queuedBytesMax = 32 * 1024 * 1024

/**
 * Waits before a broken stream is begun again: short at first, for the usual case of one server
 * restarted.
 */
const retryMs = [20, 100, 300]

/** An unanswered progress request is repeated: a server that is busy catching up drops it. */
const progressRetryMs = 100

/**
 * How long changes have to arrive by themselves before a marker is written for a waiting reader.
 */
const markerDelayMs = 20

export interface WatchParts {
  readonly connection: Connection
  readonly range: KeyRange
  readonly progress: Progress
  /** The newest revision, as all servers agree on it. */
  readonly newest: () => Promise<Revision>
}

export interface WatchOptions {
  readonly after: Revision
  readonly signal: AbortSignal
  readonly progress?: (revision: Revision) => void
}

type Queued =
  | { readonly batch: Change[] }
  /** Everything up to here has been received. */
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
  /** Everything up to here was received, perhaps not yet read. */
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
  /** A first answer about progress, to be confirmed by a second. */
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
   * Ensures that the reader learns when everything up to a revision has come, also if nothing more
   * comes.
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

  /** What no etcd says ends the feed, not the process. */
  #read(bytes: Buffer): void {
    try {
      this.#hear(decodeWatch(bytes))
    } catch (error) {
      const { endpoints } = this.#connection
      this.fail(new StorageUnavailable(describeFailure(error, endpoints), { cause: error }))
    }
  }

  #hear(response: WatchResponse): void {
    if (response.canceled) {
      this.#canceled(response)
      return
    }
    if (!response.created && response.revision === 0) {
      // Etcd has no such revision. Servers that imitate etcd send it for a watch that they give up
      // without canceling it.
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
   * A server that answers from an older time than the last one is behind the others, or all of them
   * were set back.
   */
  #created(revision: Revision): void {
    const isAgain = this.#wasConnected
    this.#wasConnected = true
    if (!isAgain || revision >= this.#received) return
    const known = this.#received
    this.#newest().then(
      (newest) => newest < known && this.fail(new RevisionSetBack(newest, known)),
      // A server that does not answer shows up again: the stream breaks, and another begins.
      () => {},
    )
  }

  /** A marker is no change: it only says that what comes before it has come. */
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
   * Older servers may report progress before they have sent earlier events. The answer to a later
   * request is behind them on the stream, so the first answer counts once there is a second.
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
    const { canBeAsked } = this.#progress
    if (canBeAsked) this.#stream?.write(encodeWatchProgress())
    this.#progressTimer = setTimeout(
      () => {
        this.#progressTimer = undefined
        if (!canBeAsked && this.#received < this.#wanted) void this.#progress.mark(this.#wanted)
        this.wantProgress(this.#wanted)
      },
      canBeAsked ? progressRetryMs : markerDelayMs,
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
    // A stream that was given up ends with an error, which is expected.
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
