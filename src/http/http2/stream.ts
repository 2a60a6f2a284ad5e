/**
 * One request on an HTTP/2 connection, as a `Wire`. A Node stream is created only if a handler
 * needs the body as a stream.
 */
import { Readable } from 'node:stream'
import { separateHeaders } from '#access/authenticate/header-values.ts'
import { tooLarge } from '#api/status-error.ts'
import type { Awaitable } from '#base/awaitable.ts'
import type { AnswerHeaders, ClientCertificates, Headers, Sink, Wire } from '#http/exchange.ts'
import { errorCode } from './frames.ts'
import { dateHeader } from './date-header.ts'
import { encodeHeader, encodeHeaders } from './header-encoder.ts'
import { BodyPieces } from '#http/connections/body-pieces.ts'
import type { RequestHead } from './request-head.ts'
import type { Outgoing, Sender } from './sender.ts'
import { queuedBytesMax, streamWindowBytes, unreadMsMax } from './limits.ts'

/** The connection's methods for its streams. */
export interface StreamHost {
  readonly sender: Sender
  readonly remoteAddress: string
  clientCertificate(): ClientCertificates | undefined
  /** Enlarges the client's window for this stream. */
  grant(stream: number, bytes: number): void
  reset(stream: Http2Stream, code: number): void
  /**
   * Whether no other request is open. The client then waits for this response, and it can be
   * flushed at once.
   */
  isOnly(stream: Http2Stream): boolean
  /** Accepts no new requests. */
  close(): void
  /** Both sides of the stream are closed. */
  finished(stream: Http2Stream): void
}

/**
 * Callbacks that wait for the response to drain or close. Most responses are sent at once and need
 * none.
 */
interface Listeners {
  readonly closed: (() => void)[]
  drained: (() => void)[]
}

/** The reader that waits for the body. */
interface BodyReader {
  take(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

export class Http2Stream implements Wire, Outgoing, Sink {
  readonly id: number
  readonly method: string
  url: string
  readonly headers: Headers
  readonly #list: readonly string[]
  readonly #host: StreamHost

  // The state of the response body, which the sender reads and updates (Outgoing in sender.ts).
  window: number
  readonly pieces: Buffer[] = []
  firstPieceSentBytes = 0
  queuedBytes = 0
  isQueued = false
  heldChecks = 0
  ended = false
  #answered = false
  /** The whole response was passed to the connection. */
  #left = false
  #gone = false
  #lingering: NodeJS.Timeout | undefined

  /** The client has not yet sent the end of its body. */
  receiving: boolean
  #early: BodyPieces | undefined
  #reader: BodyReader | undefined
  #receivedBytes = 0
  #ungrantedBytes = 0

  #listeners: Listeners | undefined
  #controller: AbortController | undefined

  constructor(
    host: StreamHost,
    id: number,
    head: RequestHead,
    state: { receiving: boolean; window: number },
  ) {
    this.#host = host
    this.id = id
    this.method = head.method
    this.url = head.path
    this.headers = head.headers
    this.#list = head.list
    this.receiving = state.receiving
    this.window = state.window
  }

  get remoteAddress(): string {
    return this.#host.remoteAddress
  }

  get separateHeaders(): Headers {
    return separateHeaders(this.#list)
  }

  clientCertificate(): ClientCertificates | undefined {
    return this.#host.clientCertificate()
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController()
      this.#controller = controller
      this.onClose(() => controller.abort())
    }
    return this.#controller.signal
  }

  // The body.

  /** Receives a piece of the body. `frameBytes` includes padding. Returns an error code. */
  receive(chunk: Buffer, frameBytes: number): number {
    this.#receivedBytes += chunk.length
    this.#ungrantedBytes += frameBytes
    if (this.#ungrantedBytes > streamWindowBytes) return errorCode.flowControl
    if (this.#reader !== undefined) this.#reader.take(chunk)
    else if (!this.#answered) (this.#early ??= new BodyPieces()).add(chunk)
    return errorCode.none
  }

  /** The body is complete. Returns an error code. */
  receivedAll(): number {
    const declared = this.headers['content-length']
    if (declared !== undefined && Number(declared) !== this.#receivedBytes)
      return errorCode.protocol
    this.receiving = false
    this.#reader?.end()
    if (this.#left) this.#host.finished(this)
    return errorCode.none
  }

  readBody(limitBytes: number): Awaitable<Buffer> {
    const refuse = () => tooLarge(`Request entity too large: limit is ${limitBytes}`)
    if (Number(this.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(refuse())
    // The received part was dropped, so a disconnected client's body cannot be read.
    if (this.#gone) return Promise.reject(clientGone())
    const chunks = this.#takeEarly()
    if (chunks.bytes > limitBytes) return Promise.reject(refuse())
    if (!this.receiving) return chunks.joined()
    if (this.headers.expect === '100-continue')
      this.#host.sender.head(this.id, encodeHeaders(100, {}), false)
    return new Promise((resolve, reject) => {
      this.#read({
        take: (chunk) => {
          if (chunks.bytes + chunk.length > limitBytes) {
            chunks.forget()
            return reject(refuse())
          }
          chunks.add(chunk)
          this.#grant()
        },
        end: () => resolve(chunks.joined()),
        fail: reject,
      })
      // The bytes received so far may have filled the window; without an update the client would
      // send no more.
      this.#grant()
    })
  }

  bodyStream(): Readable | undefined {
    if (!this.receiving && this.#early === undefined && !this.#gone) return undefined
    const body = new Readable({
      read: () => this.#grant(),
      destroy: (error, done) => done(error),
    })
    // The handler learns of the disconnect by the signal. Without this listener the error would end
    // the process.
    body.on('error', () => {})
    if (this.#gone) return body.destroy(clientGone())
    for (const chunk of this.#takeEarly().all()) body.push(chunk)
    if (!this.receiving) body.push(null)
    else {
      this.#read({
        take: (chunk) => {
          if (body.push(chunk)) this.#grant()
        },
        end: () => void body.push(null),
        fail: (error) => void body.destroy(error),
      })
    }
    return body
  }

  #takeEarly(): BodyPieces {
    const early = this.#early ?? new BodyPieces()
    this.#early = undefined
    return early
  }

  #read(reader: BodyReader): void {
    this.#reader = reader
    if (this.#gone) reader.fail(clientGone())
  }

  /**
   * Updates the window after half of it was read; an update for each piece would be too much
   * traffic.
   */
  #grant(): void {
    if (!this.receiving || this.#ungrantedBytes < streamWindowBytes / 2) return
    this.#host.grant(this.id, this.#ungrantedBytes)
    this.#ungrantedBytes = 0
  }

  // The answer.

  answer(status: number, headers: AnswerHeaders, body: Buffer | undefined): void {
    const length = body?.length ?? 0
    const block = this.#head(status, headers, length)
    if (block === undefined) return
    const { sender } = this.#host
    if (body === undefined || length === 0 || this.method === 'HEAD') {
      sender.head(this.id, block, true)
      return void this.#done()
    }
    if (sender.whole(this, block, body)) {
      if (this.#host.isOnly(this)) sender.flush()
      return void this.#done()
    }
    sender.head(this.id, block, false)
    this.#queue(body)
    this.end()
  }

  answerPieces(status: number, headers: AnswerHeaders, pieces: readonly Buffer[]): void {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const block = this.#head(status, headers, length)
    if (block === undefined) return
    if (this.method === 'HEAD') {
      this.#host.sender.head(this.id, block, true)
      return void this.#done()
    }
    this.#host.sender.head(this.id, block, false)
    for (const piece of pieces) this.#queue(piece)
    this.end()
  }

  stream(status: number, headers: AnswerHeaders): Sink {
    const block = this.#head(status, headers, undefined)
    if (block === undefined) return this
    const isWhole = this.method === 'HEAD'
    this.#host.sender.head(this.id, block, isWhole)
    if (isWhole) this.#done()
    return this
  }

  /** Undefined if the client has disconnected or already has a response. */
  #head(status: number, headers: AnswerHeaders, length: number | undefined): string | undefined {
    if (this.#gone || this.#answered) return undefined
    this.#answered = true
    // The body will not be read, and a watch may last long, so free it.
    this.#early = undefined
    let block = encodeHeaders(status, headers)
    // A forwarded response has its own Date header.
    if (headers.date === undefined) block += encodeHeader('date', dateHeader())
    if (length === undefined || status === 204 || status === 304) return block
    return block + encodeHeader('content-length', length)
  }

  #queue(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.pieces.push(bytes)
    this.queuedBytes += bytes.length
  }

  write(bytes: Buffer): boolean {
    return this.writeAll([bytes])
  }

  writeAll(pieces: readonly Buffer[]): boolean {
    if (this.closed) return true
    for (let i = 0; i < pieces.length; i++) this.#queue(pieces[i] as Buffer)
    this.#host.sender.send(this)
    return this.queuedBytes < queuedBytesMax
  }

  drained(): Promise<void> {
    if (this.closed || this.queuedBytes < queuedBytesMax) return Promise.resolve()
    return new Promise((resolve) => void this.#heard().drained.push(resolve))
  }

  end(): void {
    if (this.closed) return
    this.ended = true
    this.#host.sender.send(this)
  }

  /**
   * Clients show the code to users: a response that the server breaks off is the server's failure.
   */
  abort(): void {
    if (!this.#gone) this.#host.reset(this, errorCode.internal)
  }

  goAway(): void {
    this.#host.close()
  }

  get closed(): boolean {
    return this.#gone || this.ended
  }

  get isWaiting(): boolean {
    return this.#answered && !this.#left && !this.#gone
  }

  sent(): void {
    if (this.#listeners !== undefined && this.queuedBytes < queuedBytesMax)
      this.#notifyDrained(this.#listeners)
    if (this.ended && this.queuedBytes === 0) this.#done()
  }

  /**
   * The response was sent. If the client still sends its body, the stream is reset only after a
   * moment. Some clients lose a response that arrives together with RST_STREAM.
   */
  #done(): void {
    this.ended = true
    this.#left = true
    if (!this.receiving) return void this.#host.finished(this)
    this.#lingering = setTimeout(() => this.#host.reset(this, errorCode.none), unreadMsMax).unref()
  }

  // The end.

  onClose(listener: () => void): void {
    if (this.#gone) listener()
    else this.#heard().closed.push(listener)
  }

  #heard(): Listeners {
    this.#listeners ??= { closed: [], drained: [] }
    return this.#listeners
  }

  #notifyDrained(listeners: Listeners): void {
    const { drained } = listeners
    if (drained.length === 0) return
    listeners.drained = []
    callAll(drained)
  }

  /** The stream is closed; no more frames are received or sent. */
  close(): void {
    if (this.#gone) return
    this.#gone = true
    this.#early = undefined
    if (this.#lingering !== undefined) clearTimeout(this.#lingering)
    if (this.queuedBytes > 0 || this.isQueued) this.#unqueue()
    if (this.receiving) this.#reader?.fail(clientGone())
    const listeners = this.#listeners
    if (listeners === undefined) return
    this.#listeners = undefined
    this.#notifyDrained(listeners)
    callAll(listeners.closed)
  }

  #unqueue(): void {
    this.#host.sender.forget(this)
    this.pieces.length = 0
    this.queuedBytes = 0
  }
}

function callAll(listeners: readonly (() => void)[]): void {
  for (let i = 0; i < listeners.length; i++) (listeners[i] as () => void)()
}

const clientGone = () => new Error('the client went away')
