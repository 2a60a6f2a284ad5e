/**
 * The queue of writes of the server's thread. Writes are queued one by one and committed together
 * once per turn of the event loop. After each commit `committed` is called with its changes. Then
 * the callers that wait for these writes get their results.
 *
 * A write that comes alone is committed on this thread: a handover would take as long as the disk.
 * After many concurrent writes, a writer thread takes over, so that the next writes are prepared
 * during the disk's sync. The thread is started late because most servers never need it and it
 * takes a tenth of their memory.
 */
import { performance } from 'node:perf_hooks'
import { type Change, type Outcome, type Revision, StorageUnavailable } from '#storage/storage.ts'
import { Committer } from './committer.ts'
import { DiskBudget } from './disk-budget.ts'
import { DiskPace } from './disk-pace.ts'
import { describeFailure, diskFull } from './failure.ts'
import { LogRest } from './log-rest.ts'
import { makeRoom } from './log-room.ts'
import {
  type CommitAnswer,
  type ExpireAnswer,
  type Reply,
  type Request,
  transactionBytesMax,
  type WriteAnswer,
  type QueuedWrite,
  type WriterOptions,
} from './protocol.ts'
import {
  addExpired,
  addWritten,
  answerWrites,
  batchesOf,
  type PendingWrite,
  requestOf,
  type Waiting,
} from './write-batch.ts'
import { WriterThread } from './writer-thread.ts'

/**
 * Writes that may wait for the disk: far more than the server accepts at once, far less than memory
 * holds.
 */
const waitingWritesMax = 20_000

/** Bytes that may wait for the disk, for the same reason. */
const waitingBytesMax = 256 * 1024 * 1024

/** How often the writer checks after a failure whether the disk accepts writes again. */
const probeIntervalMs = 500

/** The thread is started after this many concurrent writes; a short burst ends before it helps. */
const concurrentWritesMaxDefault = 16_384

/** Revisions that this thread may search for old rows; the writer thread searches longer ranges. */
const sweptOnThisThreadMax = 2000

/** If copying the log takes longer than this once, the writer thread copies it from then on. */
const copySlowMs = 20

/**
 * If the writer thread failed to start, a slow disk is no reason to start it again for this time.
 */
const threadRetryMs = 10_000

/** Space for the log is reserved this long after the start, so as not to delay it. */
const roomAfterMs = 500

export interface WriteQueueOptions extends WriterOptions {
  readonly concurrentWritesMax?: number
  /** Milliseconds since an arbitrary moment. */
  readonly elapsed?: () => number
}

/** A request in progress, and the caller that waits for its result. */
interface Sent {
  readonly writes?: Waiting[]
  readonly answer?: PromiseWithResolvers<CommitAnswer>
}

export interface WriterEvents {
  /**
   * Called with the changes of a transaction that is on disk, in order, before the waiters get
   * their results.
   */
  committed(changes: Change[]): void
  /** Called when the disk is nearly full or full; a compaction then frees space. */
  diskShort?(isFull: boolean): void
}

export class WriteQueue {
  #options: WriteQueueOptions
  #elapsed: () => number
  #events: WriterEvents
  /** Commits on this thread; never waits for another writer. */
  #committer: Committer
  #thread: WriterThread | undefined
  /** The number of writes so far that came together with others. */
  #concurrentWrites = 0
  #pace: DiskPace
  #budget: DiskBudget
  #logRest: LogRest
  /** The newest announced revision; at first, the newest revision of the store. */
  #newest: Revision
  #unsent: Waiting[] = []
  /** The number of writes in this turn of the event loop, and in the last turn with writes. */
  #turnCount = 0
  #lastCount = 0
  /** Requests that wait for their results, oldest first. */
  #sent: Sent[] = []
  #waitingWrites = 0
  #waitingBytes = 0
  #trouble: string | undefined
  /** The queue is closed or failed for good; every request is rejected. */
  #ended = false
  #probeTimer: NodeJS.Timeout | undefined
  #roomTimer: NodeJS.Timeout

  constructor(options: WriteQueueOptions, events: WriterEvents) {
    this.#options = options
    this.#elapsed = options.elapsed ?? (() => performance.now())
    this.#pace = new DiskPace(this.#elapsed)
    this.#events = events
    const { file, checkpointBytes } = options
    this.#committer = new Committer({ file, checkpointBytes, busyMs: 0, sweeps: false })
    this.#newest = this.#committer.newestRevision()
    this.#budget = new DiskBudget({
      logBytes: checkpointBytes,
      spareBytes: () => this.#committer.spareBytes(),
      short: (isFull) => this.#reportShortDisk(isFull),
    })
    this.#logRest = new LogRest({
      file,
      limitBytes: checkpointBytes,
      empty: () => this.#emptyLog(),
      emptied: () => this.#makeRoom(),
    })
    if (!this.#budget.refill()) this.#beFull()
    if (this.#committer.unswept() > sweptOnThisThreadMax) this.#startThread()
    else this.#sweepSoon()
    this.#roomTimer = setTimeout(() => this.#makeRoom(), roomAfterMs).unref()
  }

  trouble(): string | undefined {
    return this.#trouble
  }

  write(write: PendingWrite): Promise<Outcome> {
    if (this.#ended) return Promise.reject(new StorageUnavailable(this.#trouble))
    const size = write.bytes?.length ?? 0
    if (this.#waitingWrites >= waitingWritesMax || this.#waitingBytes + size > waitingBytesMax) {
      return Promise.reject(new StorageUnavailable('too many writes wait for the disk'))
    }
    if (!this.#budget.take(write.bytes?.length)) return Promise.reject(this.#beFull())
    this.#waitingWrites++
    this.#waitingBytes += size
    const answer = Promise.withResolvers<Outcome>()
    this.#unsent.push({ ...write, answer })
    if (++this.#turnCount === 1) {
      setImmediate(() => this.#endTurn())
      // The last write came alone and is done, so no other write is expected soon: commit this
      // write at once.
      if (this.#sent.length === 0 && this.#lastCount === 1) this.#flush()
    }
    return answer.promise
  }

  #endTurn(): void {
    this.#lastCount = this.#turnCount
    this.#turnCount = 0
    this.#flush()
  }

  ask(request: Exclude<Request, QueuedWrite>): Promise<CommitAnswer> {
    if (this.#ended) return Promise.reject(new StorageUnavailable(this.#trouble))
    this.#flush()
    const answer = Promise.withResolvers<CommitAnswer>()
    if (request.kind === 'compact' && this.#committer.unswept(request.upTo) > sweptOnThisThreadMax)
      this.#startThread()
    this.#send(request, { answer })
    return answer.promise
  }

  /** Waits until all queued writes are on disk, then closes. */
  async close(): Promise<void> {
    this.#stopTimers()
    this.#flush()
    await this.#thread?.close()
    this.#end('the store is closed')
  }

  #flush(): void {
    const writes = this.#unsent
    if (writes.length === 0 || this.#ended) return
    this.#unsent = []
    if (writes.length > 1) this.#concurrentWrites += writes.length
    if (this.#concurrentWrites > (this.#options.concurrentWritesMax ?? concurrentWritesMaxDefault))
      this.#startThread()
    for (const batch of batchesOf(writes, transactionBytesMax(this.#options)))
      this.#send(requestOf(batch), { writes: batch })
  }

  #send(request: Request, sent: Sent): void {
    const onThisThread = this.#commitsOnThisThread(request)
    this.#sent.push(sent)
    if (onThisThread && this.#commitOnThisThread(request)) return
    this.#startThread().post(request, this.#newest)
  }

  /**
   * Whether this thread commits the request. Requests must not overtake those of the writer thread.
   */
  #commitsOnThisThread(request: Request): boolean {
    if (this.#sent.length > 0) return false
    // The side that compacts also deletes old rows; only one side may.
    if (request.kind === 'compact') return this.#thread === undefined
    if (!this.#thread?.isOpen) return true
    return this.#lastCount === 1 && this.#pace.isRested() && !this.#committer.log.isFarBeyond
  }

  /** Returns false, and does nothing, if another connection is writing. */
  #commitOnThisThread(request: Request): boolean {
    const began = this.#elapsed()
    const reply = this.#committer.transact([request], this.#newest)
    if (reply.kind === 'failed' && reply.isBusy) return false
    const writes = request.kind === 'write' ? request.keys.length : 1
    if (this.#pace.isSlowAfter(this.#elapsed() - began, writes)) this.#startThread()
    this.#handle(reply)
    if (this.#committer.log.isLong) this.#copyLog()
    if (request.kind === 'compact') this.#sweepSoon()
    return true
  }

  /** Deletes old rows in small steps, until the writer thread is started and continues. */
  #sweepSoon(): void {
    setImmediate(() => {
      if (this.#ended || this.#thread) return
      if (this.#committer.sweep()) this.#sweepSoon()
      if (this.#committer.log.isLong) this.#copyLog()
    })
  }

  /**
   * Without a writer thread, this thread copies the log while that is fast; otherwise the writer
   * thread does. A thread can take seconds to open. Until then this thread writes, so it also
   * copies a log far beyond its limit, which would fill a small disk.
   */
  #copyLog(): void {
    if (this.#thread && (this.#thread.isOpen || !this.#committer.log.isFarBeyond)) {
      this.#committer.log.leave()
      this.#thread.copyLog()
      return
    }
    const began = this.#elapsed()
    this.#committer.log.copy()
    if (this.#elapsed() - began > copySlowMs) this.#startThread()
  }

  #emptyLog(): void {
    if (this.#thread) this.#thread.emptyLog()
    else this.#committer.log.empty()
  }

  #startThread(): WriterThread {
    const { file, checkpointBytes } = this.#options
    this.#thread ??= new WriterThread(
      { file, checkpointBytes },
      {
        replied: (reply) => this.#handle(reply),
        unopened: (words) => this.#continueWithoutThread(words),
        ended: (words) => this.#recoverFromThread(words),
      },
    )
    return this.#thread
  }

  /**
   * The thread failed to start, or ended: this thread continues, and a later reason may start it
   * again.
   */
  #continueWithoutThread(words: string): void {
    this.#thread = undefined
    this.#concurrentWrites = 0
    this.#pace.restFor(threadRetryMs)
    const count = this.#sent.length
    if (count > 0) this.#fail({ kind: 'failed', count, message: words, isBusy: false })
    this.#sweepSoon()
  }

  /**
   * A thread that ended may have committed writes without reporting them. They are announced now,
   * after all announced changes; their waiters get an unknown outcome. No write is repeated,
   * because it could take effect twice.
   */
  #recoverFromThread(words: string): void {
    try {
      this.#announce(this.#committer.changesAfter(this.#newest))
    } catch (error) {
      this.#end(`${words}, and what it wrote is not known: ${(error as Error).message}`)
      return
    }
    this.#continueWithoutThread(`${words}; what waited for it may have been written or not`)
  }

  #makeRoom(): void {
    const { file, checkpointBytes } = this.#options
    makeRoom({
      file: `${file}-wal`,
      sizeBytes: checkpointBytes,
      isOver: () => this.#ended,
      alone: (step) => this.#committer.alone(step),
    })
  }

  #handle(reply: Reply): void {
    if (reply.kind === 'committed') this.#settle(reply.answers)
    else this.#fail(reply)
  }

  #settle(answers: CommitAnswer[]): void {
    const settled = this.#sent.splice(0, answers.length)
    const changes: Change[] = []
    for (let i = 0; i < settled.length; i++) {
      const { writes } = settled[i]
      if (writes) addWritten(changes, writes, answers[i] as WriteAnswer)
      else if (answers[i]) addExpired(changes, answers[i] as ExpireAnswer)
    }
    try {
      this.#announce(changes)
    } catch (error) {
      // The waiters of this transaction must fail before all later ones.
      this.#sent.unshift(...settled)
      this.#end(`what was written could not be announced: ${(error as Error).message}`)
      return
    }
    for (let i = 0; i < settled.length; i++) {
      const { writes, answer } = settled[i]
      answer?.resolve(answers[i])
      if (!writes) continue
      this.#release(writes)
      answerWrites(writes, answers[i] as WriteAnswer)
    }
  }

  #announce(changes: Change[]): void {
    const last = changes.at(-1)
    if (last) this.#newest = last.revision
    this.#logRest.written()
    this.#events.committed(changes)
  }

  #fail(reply: Extract<Reply, { kind: 'failed' }>): void {
    const failure = this.#beInTrouble(reply.message)
    for (const sent of this.#sent.splice(0, reply.count)) this.#reject(sent, failure)
  }

  #beInTrouble(words: string): StorageUnavailable {
    this.#trouble = words
    this.#probeTimer ??= setInterval(() => this.#probe(), probeIntervalMs).unref()
    return new StorageUnavailable(words)
  }

  #beFull(): StorageUnavailable {
    return this.#beInTrouble(describeFailure(diskFull, this.#options.file))
  }

  /**
   * A compaction helps only after the old rows of the last one are deleted, unless the disk is
   * full.
   */
  #reportShortDisk(isFull: boolean): void {
    if (isFull || this.#committer.unswept() <= 0)
      setImmediate(() => this.#events.diskShort?.(isFull))
  }

  /**
   * Only a probe ends the trouble: the success of one small write does not prove that the next one
   * succeeds.
   */
  #probe(): void {
    const isRoom = this.#budget.refill()
    if (this.#sent.length > 0) return
    this.ask({ kind: 'probe' }).then(
      () => {
        // Copying the log and deleting old rows may have been interrupted.
        if (!this.#thread) this.#sweepSoon()
        if (!isRoom) return
        this.#trouble = undefined
        clearInterval(this.#probeTimer)
        this.#probeTimer = undefined
      },
      () => {},
    )
  }

  #stopTimers(): void {
    clearInterval(this.#probeTimer)
    clearTimeout(this.#roomTimer)
    this.#logRest.stop()
  }

  #end(words: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#trouble = words
    this.#stopTimers()
    const failure = new StorageUnavailable(words)
    for (const sent of this.#sent.splice(0)) this.#reject(sent, failure)
    this.#reject({ writes: this.#unsent.splice(0) }, failure)
    this.#committer.close()
  }

  #reject({ writes, answer }: Sent, failure: StorageUnavailable): void {
    answer?.reject(failure)
    if (!writes) return
    this.#release(writes)
    for (const write of writes) write.answer.reject(failure)
  }

  #release(writes: Waiting[]): void {
    this.#waitingWrites -= writes.length
    for (const write of writes) this.#waitingBytes -= write.bytes?.length ?? 0
  }
}
