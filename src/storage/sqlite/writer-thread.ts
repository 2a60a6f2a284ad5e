/**
 * The writer's thread as the server's sees it: requests, responses, and its end. It does not know
 * the waiters.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { embeddedFile } from '#base/embedded-file.ts'
import type { Revision } from '#storage/storage.ts'
import type { Message, Order, Reply, Request, ThreadReply, WriterOptions } from './protocol.ts'

export interface ThreadEvents {
  /** A transaction ended; replies come in the order of what was posted. */
  replied(reply: Reply): void
  /** It could not begin, and so did nothing of what was posted. */
  unopened(words: string): void
  /** It ended by itself: what was posted and not replied to may have been done or not. */
  ended(words: string): void
}

export class WriterThread {
  #worker: Worker
  #events: ThreadEvents
  #isOpen = false
  #words = 'the writer of the store has ended'
  /** It was stopped after it had done everything before. */
  #isClosed = false
  #closed = Promise.withResolvers<void>()

  constructor(options: WriterOptions, events: ThreadEvents) {
    this.#events = events
    const { source, isCode } = writerSource()
    this.#worker = new Worker(source, {
      eval: isCode,
      name: 'storage-writer',
      workerData: options,
      env: environment(),
      // It holds what is being written and nothing else.
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 },
    })
    this.#worker.on('message', (reply: ThreadReply) => this.#hear(reply))
    this.#worker.on('error', (error) => {
      this.#words = `the writer of the store failed: ${error.message}`
    })
    // All its messages were received by then.
    this.#worker.on('exit', () => this.#end())
  }

  /** Whether it has begun: what is posted sooner waits for that. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  post(what: Request, newest: Revision): void {
    const transfer = what.kind === 'write' ? [what.bytes.buffer, what.numbers.buffer] : []
    this.#send({ what, newest }, transfer as ArrayBuffer[])
  }

  copyLog(): void {
    this.#order({ kind: 'checkpoint' })
  }

  emptyLog(): void {
    this.#order({ kind: 'empty log' })
  }

  /** Lets everything posted reach the disk. */
  async close(): Promise<void> {
    this.#order({ kind: 'close' })
    await this.#closed.promise
  }

  #order(what: Order): void {
    this.#send({ what, newest: 0 }, [])
  }

  #send(message: Message, transfer: ArrayBuffer[]): void {
    this.#worker.postMessage(message, transfer)
  }

  #hear(reply: ThreadReply): void {
    switch (reply.kind) {
      case 'opened':
        this.#isOpen = true
        return
      case 'unopened':
        this.#words = reply.message
        return
      case 'closed':
        this.#isClosed = true
        this.#closed.resolve()
        return
      default:
        this.#events.replied(reply)
    }
  }

  #end(): void {
    if (!this.#isOpen) this.#events.unopened(this.#words)
    else if (!this.#isClosed) this.#events.ended(this.#words)
    this.#closed.resolve()
  }
}

/** The thread's module: beside this one with the same ending, or inside the single executable. */
function writerSource(): { source: URL | string; isCode: boolean } {
  const code = embeddedFile('storage/sqlite/writer.cjs')
  if (code !== undefined) return { source: code, isCode: true }
  const url = import.meta.url
  return { source: new URL(`./writer${extname(url)}`, url), isCode: false }
}

/**
 * The thread shares the cache of compiled code: reading the types away again would cost it more
 * than all else.
 */
function environment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir()
  // Node puts a directory for its own version below the one it is given.
  return cache ? { ...process.env, NODE_COMPILE_CACHE: dirname(cache) } : process.env
}
