/**
 * The server thread's interface to the writer thread: requests, replies, and its exit. It does not
 * know the waiters.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { embeddedFile } from '#base/embedded-file.ts'
import type { Revision } from '#storage/storage.ts'
import type { Message, Order, Reply, Request, ThreadReply, WriterOptions } from './protocol.ts'

export interface ThreadEvents {
  /** A transaction ended. Replies are in the order of the requests. */
  replied(reply: Reply): void
  /** The thread failed to start, and processed no request. */
  unopened(words: string): void
  /** The thread exited unexpectedly; requests without a reply may have been done or not. */
  ended(words: string): void
}

export class WriterThread {
  #worker: Worker
  #events: ThreadEvents
  #isOpen = false
  #words = 'the writer of the store has ended'
  /** Whether the thread was closed after it had processed all requests. */
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
      // It holds only the current writes.
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 },
    })
    this.#worker.on('message', (reply: ThreadReply) => this.#handle(reply))
    this.#worker.on('error', (error) => {
      this.#words = `the writer of the store failed: ${error.message}`
    })
    // The exit event follows all of the thread's messages.
    this.#worker.on('exit', () => this.#end())
  }

  /** Whether the thread has started; earlier requests wait for that. */
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

  /** Waits until all requests are on disk. */
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

  #handle(reply: ThreadReply): void {
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

/**
 * The thread's module: the file next to this one with the same extension, or in the single
 * executable.
 */
function writerSource(): { source: URL | string; isCode: boolean } {
  const code = embeddedFile('storage/sqlite/writer.cjs')
  if (code !== undefined) return { source: code, isCode: true }
  const url = import.meta.url
  return { source: new URL(`./writer${extname(url)}`, url), isCode: false }
}

/**
 * The thread shares the compile cache, because stripping types again is the largest part of its
 * start time.
 */
function environment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir()
  // Node adds a subdirectory for its version to the configured directory.
  return cache ? { ...process.env, NODE_COMPILE_CACHE: dirname(cache) } : process.env
}
