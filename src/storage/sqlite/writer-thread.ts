/**
 * The writer as the server's thread sees it: writes go in one by one, leave together once per turn of the event loop (one
 * that comes alone leaves at once), and come back as the batches that were committed. Whoever waits for a write hears of
 * it after `committed` was called with it.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Change, type Outcome, type Revision, StorageUnavailable } from '#storage/storage.ts'
import {
  type Answer,
  deletion,
  type ExpireAnswer,
  numbersPerWrite,
  type Reply,
  type Request,
  type WriteAnswer,
  type WriterOptions,
} from './protocol.ts'

/** Writes that may wait for the disk: far beyond what the server lets in at once, far below what memory holds. */
const waitingWritesMax = 20_000

/** Bytes that may wait for the disk, for the same reason. */
const waitingBytesMax = 256 * 1024 * 1024

/** How often a writer in trouble looks whether the disk takes writes again. */
const probeIntervalMs = 500

export interface PendingWrite {
  readonly key: string
  /** undefined: a deletion. */
  readonly bytes: Buffer | undefined
  readonly ifRevision: Revision
  readonly deadline: number
  readonly ttlMs: number
}

interface Waiting extends PendingWrite {
  readonly answer: PromiseWithResolvers<Outcome>
}

/** A request on its way, and who waits for its answer. */
interface Sent {
  readonly writes?: Waiting[]
  readonly answer?: PromiseWithResolvers<Answer>
}

export interface WriterEvents {
  /** A transaction is on disk: its changes, in order. Called before anyone who waits for one of them hears of it. */
  committed(changes: Change[]): void
}

export class WriterThread {
  #worker: Worker
  #events: WriterEvents
  #closed: PromiseWithResolvers<void> | undefined
  #unsent: Waiting[] = []
  /** How many went together the last time. */
  #lastCount = 0
  #sent: Sent[] = []
  #waitingWrites = 0
  #waitingBytes = 0
  #trouble: string | undefined
  /** The thread ended: nothing will be answered any more. */
  #ended = false
  #probeTimer: NodeJS.Timeout | undefined

  constructor(options: WriterOptions, events: WriterEvents) {
    this.#events = events
    // Built for a package the file beside this one ends as this one does.
    const name = import.meta.url.endsWith('.ts') ? './writer.ts' : './writer.js'
    this.#worker = new Worker(new URL(name, import.meta.url), {
      name: 'storage-writer',
      workerData: options,
      env: environment(),
      // It holds what is being written and nothing else.
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 },
    })
    this.#worker.on('message', (reply: Reply) => this.#hear(reply))
    this.#worker.on('error', (error) =>
      this.#end(`the writer of the store failed: ${error.message}`),
    )
    this.#worker.on('exit', () => this.#end('the writer of the store has ended'))
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
    this.#waitingWrites++
    this.#waitingBytes += size
    const answer = Promise.withResolvers<Outcome>()
    this.#unsent.push({ ...write, answer })
    if (this.#isAlone()) this.#flush()
    else if (this.#unsent.length === 1) setImmediate(() => this.#flush())
    return answer.promise
  }

  /** Where the last one came alone and is answered, nothing is to be expected in whose company this one could go. */
  #isAlone(): boolean {
    return this.#sent.length === 0 && this.#lastCount === 1
  }

  ask(request: Exclude<Request, { kind: 'write' | 'close' }>): Promise<Answer> {
    if (this.#ended) return Promise.reject(new StorageUnavailable(this.#trouble))
    this.#flush()
    const answer = Promise.withResolvers<Answer>()
    this.#sent.push({ answer })
    this.#post(request)
    return answer.promise
  }

  /** Lets everything on its way reach the disk, then ends the thread. */
  async close(): Promise<void> {
    clearInterval(this.#probeTimer)
    if (this.#ended) return
    this.#flush()
    this.#closed = Promise.withResolvers()
    this.#post({ kind: 'close' })
    await this.#closed.promise
  }

  #flush(): void {
    const writes = this.#unsent
    if (writes.length === 0 || this.#ended) return
    this.#unsent = []
    this.#lastCount = writes.length
    let size = 0
    for (const write of writes) size += write.bytes?.length ?? 0
    const bytes = new Uint8Array(size)
    const numbers = new Float64Array(writes.length * numbersPerWrite)
    const keys: string[] = new Array(writes.length)
    let offset = 0
    for (let i = 0; i < writes.length; i++) {
      const write = writes[i]
      const at = i * numbersPerWrite
      keys[i] = write.key
      numbers[at] = write.ifRevision
      numbers[at + 1] = write.bytes ? write.bytes.length : deletion
      numbers[at + 2] = write.deadline
      numbers[at + 3] = write.ttlMs
      if (!write.bytes) continue
      bytes.set(write.bytes, offset)
      offset += write.bytes.length
    }
    this.#sent.push({ writes })
    this.#post({ kind: 'write', keys, numbers, bytes }, [bytes.buffer, numbers.buffer])
  }

  #post(request: Request, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer)
  }

  #hear(reply: Reply): void {
    switch (reply.kind) {
      case 'unopened':
        this.#end(reply.message)
        return
      case 'committed':
        this.#settle(reply.answers)
        return
      case 'failed':
        this.#fail(reply)
        return
      case 'closed':
        this.#end('the store is closed')
    }
  }

  #settle(answers: Answer[]): void {
    const settled = this.#sent.splice(0, answers.length)
    const changes: Change[] = []
    for (let i = 0; i < settled.length; i++) {
      const { writes } = settled[i]
      if (writes) addWritten(changes, writes, answers[i] as WriteAnswer)
      else if (answers[i]) addExpired(changes, answers[i] as ExpireAnswer)
    }
    this.#events.committed(changes)
    for (let i = 0; i < settled.length; i++) {
      const { writes, answer } = settled[i]
      answer?.resolve(answers[i])
      if (!writes) continue
      this.#release(writes)
      answerWrites(writes, answers[i] as WriteAnswer)
    }
  }

  #fail(reply: Extract<Reply, { kind: 'failed' }>): void {
    const failure = new StorageUnavailable(reply.message)
    this.#trouble = reply.message
    this.#probeTimer ??= setInterval(() => this.#probe(), probeIntervalMs).unref()
    for (const sent of this.#sent.splice(0, reply.count)) this.#reject(sent, failure)
  }

  /** Only a probe ends the trouble: that one small write found room says little about the next. */
  #probe(): void {
    if (this.#sent.length > 0) return
    this.ask({ kind: 'probe' }).then(
      () => {
        this.#trouble = undefined
        clearInterval(this.#probeTimer)
        this.#probeTimer = undefined
      },
      () => {},
    )
  }

  #end(words: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#trouble = words
    clearInterval(this.#probeTimer)
    const failure = new StorageUnavailable(words)
    for (const sent of this.#sent.splice(0)) this.#reject(sent, failure)
    this.#reject({ writes: this.#unsent.splice(0) }, failure)
    this.#closed?.resolve()
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

/** The thread shares the cache of compiled code: reading the types away again would cost it more than all else. */
function environment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir()
  // Node puts a directory for its own version below the one it is given.
  return cache ? { ...process.env, NODE_COMPILE_CACHE: dirname(cache) } : process.env
}

function addWritten(changes: Change[], writes: Waiting[], answer: WriteAnswer): void {
  for (let i = 0; i < writes.length; i++) {
    const revision = answer.revisions[i]
    if (revision > 0) changes.push({ key: writes[i].key, revision, bytes: writes[i].bytes })
  }
}

function addExpired(changes: Change[], answer: ExpireAnswer): void {
  for (const [i, key] of answer.keys.entries()) {
    changes.push({ key, revision: answer.revisions[i], bytes: undefined })
  }
}

function answerWrites(writes: Waiting[], answer: WriteAnswer): void {
  for (const { index, revision, bytes } of answer.refused) {
    const { key } = writes[index]
    const current = bytes && { key, revision, bytes: Buffer.from(bytes.buffer) }
    writes[index].answer.resolve({ ok: false, current })
  }
  for (let i = 0; i < writes.length; i++) {
    const revision = answer.revisions[i]
    if (revision > 0) writes[i].answer.resolve({ ok: true, revision })
  }
}
