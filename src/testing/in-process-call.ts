/**
 * Sends a request without a socket. It enters the server after TLS and HTTP, so it passes the same
 * authentication, authorization, admission and audit as others. The response body arrives in
 * chunks.
 */
import { tooLarge } from '#api/status-error.ts'
import type { AnswerHeaders, Sink, Wire } from '#http/exchange.ts'

export interface InProcessCall {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
}

export interface CallResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /**
   * The rest of the body. Iterate once. Ends early with an error if the server breaks the response
   * off.
   */
  readonly chunks: AsyncIterable<Buffer>
  text(): Promise<string>
}

export type Serve = (wire: Wire) => void

/** The limit for the bytes of unread chunks; above it the server waits for the reader. */
const unreadBytesMax = 1024 * 1024

class Body implements Sink, AsyncIterable<Buffer> {
  #chunks: Buffer[] = []
  #unreadBytes = 0
  #ended = false
  #failure: Error | undefined
  #wakeReader = () => {}
  #wakeWriter = () => {}
  #closeListeners: (() => void)[] = []

  get closed(): boolean {
    return this.#ended
  }

  write(bytes: Buffer): boolean {
    if (this.#ended) return false
    this.#chunks.push(bytes)
    this.#unreadBytes += bytes.length
    this.#wakeReader()
    return this.#unreadBytes < unreadBytesMax
  }

  drained(): Promise<void> {
    if (this.#ended || this.#unreadBytes < unreadBytesMax) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wakeWriter = resolve
    })
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#wakeReader()
    this.#wakeWriter()
    for (const listener of this.#closeListeners.splice(0)) listener()
  }

  abort(): void {
    if (!this.#ended) this.#failure = new Error('the server broke the response off')
    this.end()
  }

  onClose(listener: () => void): void {
    if (this.#ended) listener()
    else this.#closeListeners.push(listener)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#unreadBytes -= chunk.length
          if (this.#unreadBytes < unreadBytesMax) this.#wakeWriter()
          yield chunk
        } else if (this.#failure !== undefined) throw this.#failure
        else if (this.#ended) return
        else
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve
          })
      }
    } finally {
      this.end()
    }
  }
}

function responseOf(status: number, headers: AnswerHeaders, body: Body): CallResponse {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : String(value)
  return {
    status,
    headers: flat,
    chunks: body,
    async text() {
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk)
      return Buffer.concat(chunks).toString('utf8')
    },
  }
}

/** Sends one request. Resolves when the status is known. */
export function callInProcess(serve: Serve, call: InProcessCall): Promise<CallResponse> {
  const { method, url, headers = {}, body, signal } = call
  return new Promise((resolve, reject) => {
    const gone = new AbortController()
    const response = new Body()
    const leave = () => {
      gone.abort()
      response.end()
      reject(signal?.reason ?? new Error('aborted'))
    }
    if (signal?.aborted) return leave()
    signal?.addEventListener('abort', leave, { once: true })
    response.onClose(() => {
      signal?.removeEventListener('abort', leave)
      gone.abort()
    })
    const whole = (status: number, answered: AnswerHeaders, pieces: readonly Buffer[]) => {
      for (const piece of pieces) response.write(piece)
      resolve(responseOf(status, answered, response))
      response.end()
    }
    const wire: Wire = {
      method,
      url,
      headers,
      separateHeaders: headers,
      remoteAddress: '127.0.0.1',
      clientCertificate: () => undefined,
      readBody(limitBytes) {
        const bytes = Buffer.from(body ?? '')
        if (bytes.length <= limitBytes) return bytes
        throw tooLarge(`Request entity too large: limit is ${limitBytes}`)
      },
      answer: (status, answered, bytes) => whole(status, answered, bytes ? [bytes] : []),
      answerPieces: whole,
      stream(status, answered) {
        resolve(responseOf(status, answered, response))
        return response
      },
      abort: () => {
        response.abort()
        reject(new Error('the server broke the response off'))
      },
      signal: gone.signal,
    }
    // A request to the memory store never waits. Without a turn of the event loop, a loop of
    // requests would delay all timers and sockets of the process.
    setImmediate(serve, wire)
  })
}
