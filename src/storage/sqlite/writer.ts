/**
 * The writer thread. It combines all requests that wait when a transaction ends in the next
 * transaction. In between it deletes old rows after a compaction, and copies a long log into the
 * database.
 */
import { flushCompileCache } from 'node:module'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { assert } from '#base/assert.ts'
import { Committer, sizeBytes } from './committer.ts'
import { describeFailure } from './failure.ts'
import {
  type Message,
  type Request,
  type ThreadReply,
  transactionBytesMax,
  type WriterOptions,
} from './protocol.ts'

/** Far longer than the server's thread holds the lock. */
const busyMs = 5000

class Writer {
  #port: MessagePort
  #committer: Committer
  #transactionBytesMax: number
  #sweepTimer: NodeJS.Immediate | undefined

  constructor(port: MessagePort, options: WriterOptions) {
    this.#port = port
    this.#transactionBytesMax = transactionBytesMax(options)
    this.#committer = new Committer({ ...options, busyMs, sweeps: true })
  }

  start(): void {
    this.#port.on('message', (message: Message) => this.#serve(this.#withWaiting(message)))
    this.#send({ kind: 'opened' })
    this.#sweepSoon()
  }

  #withWaiting(first: Message): Message[] {
    const messages = [first]
    let size = bytesOf(first)
    while (size < this.#transactionBytesMax) {
      const waiting = receiveMessageOnPort(this.#port) as { message: Message } | undefined
      if (!waiting) break
      messages.push(waiting.message)
      size += bytesOf(waiting.message)
    }
    return messages
  }

  #serve(messages: Message[]): void {
    const requests: Request[] = []
    let newest = 0
    let isLogLong = false
    let isLogLeft = false
    let isLast = false
    for (const { what, newest: known } of messages) {
      if (known > newest) newest = known
      if (what.kind === 'checkpoint') isLogLong = true
      else if (what.kind === 'empty log') isLogLeft = true
      else if (what.kind === 'close') isLast = true
      else requests.push(what)
    }
    const committer = this.#committer
    if (requests.length > 0) this.#send(committer.transact(requests, newest))
    if (isLast) {
      this.#close()
      return
    }
    if (isLogLeft) committer.log.empty()
    else if (isLogLong || committer.log.isLong) committer.log.copy()
    if (committer.isSweeping) this.#sweepSoon()
  }

  #sweepSoon(): void {
    this.#sweepTimer ??= setImmediate(() => {
      this.#sweepTimer = undefined
      if (this.#committer.sweep()) this.#sweepSoon()
      if (this.#committer.log.isLong) this.#committer.log.copy()
    })
  }

  #close(): void {
    clearImmediate(this.#sweepTimer)
    try {
      this.#committer.close()
    } finally {
      this.#send({ kind: 'closed' })
      this.#port.close()
    }
  }

  #send(reply: ThreadReply): void {
    this.#port.postMessage(reply)
  }
}

function bytesOf({ what }: Message): number {
  switch (what.kind) {
    case 'checkpoint':
    case 'empty log':
    case 'close':
      return 0
    default:
      return sizeBytes(what)
  }
}

assert(parentPort, 'the writer is started as a thread')
const options = workerData as WriterOptions
try {
  new Writer(parentPort, options).start()
  // Write the compile cache early, because a killed server would leave none for its next start.
  setTimeout(flushCompileCache, 2000).unref()
} catch (error) {
  const reply: ThreadReply = { kind: 'unopened', message: describeFailure(error, options.file) }
  parentPort.postMessage(reply)
}
