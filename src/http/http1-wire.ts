/** A request over HTTP/1.1, as a `Wire`. */
import type http from 'node:http'
import type { Readable, Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { tooLarge } from '#api/status-error.ts'
import { separateHeaders } from '#access/authenticate/header-values.ts'
import { BodyPieces } from './body-pieces.ts'
import { certificatesOf } from './client-certificates.ts'
import type { ClientCertificates, Sink, Wire } from './exchange.ts'
import { drained } from './drained.ts'

/** The body as one buffer. A body over the limit is refused without being kept. */
function collect(stream: Readable, declared: number, limitBytes: number): Promise<Buffer> {
  const refuse = () => tooLarge(`Request entity too large: limit is ${limitBytes}`)
  if (declared > limitBytes) {
    stream.resume()
    return Promise.reject(refuse())
  }
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the client went away'))
    if (stream.destroyed) return gone()
    const chunks = new BodyPieces()
    stream.on('data', (chunk: Buffer) => {
      if (chunks.bytes + chunk.length <= limitBytes) return chunks.add(chunk)
      chunks.forget()
      reject(refuse())
    })
    let ended = false
    stream.on('end', () => {
      ended = true
      resolve(chunks.joined())
    })
    stream.on('error', reject)
    stream.on('close', () => {
      if (!ended) gone()
    })
  })
}

const noBytes = Buffer.alloc(0)

/** Answers that say nothing of a length: they have no body. */
const bodiless = new Set([204, 304])

/** In HTTP/1.1 a request has the body it announces, whatever its method. */
const hasBody = ({ headers }: http.IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The requested path; proxies, and their clients, put the server's name before it. */
const pathOf = (target: string): string =>
  target.startsWith('/')
    ? target
    : target.replace(/^https?:\/\/[^/?]*(?=([/?]?))/i, (_, next) => (next === '/' ? '' : '/'))

/** Parsed once per connection: all of its requests come from the same client. */
const certificates = new WeakMap<object, ClientCertificates | undefined>()

const certificateOf = (socket: TLSSocket) => (): ClientCertificates | undefined => {
  if (certificates.has(socket)) return certificates.get(socket)
  const found = certificatesOf(socket)
  certificates.set(socket, found)
  return found
}

/** One signal for the wire's whole life, made on first use, also after the client has gone. */
function lazySignal(
  request: http.IncomingMessage,
  response: http.ServerResponse | undefined,
): () => AbortSignal {
  let controller: AbortController | undefined
  return () => {
    if (controller === undefined) {
      const made = new AbortController()
      controller = made
      if (response?.destroyed || (request.destroyed && !request.complete)) made.abort()
      else (response ?? request).once('close', () => made.abort())
    }
    return controller.signal
  }
}

/**
 * How long a client that has its answer may go on sending an unread body: enough to notice the
 * answer, too little to keep a connection by an endless one.
 */
const unreadBodyMsMax = 5000

/** What the socket has not taken of an answer, from where on it counts. */
const waitingBytesMin = 64 * 1024

function boundUnread(stream: Readable): void {
  if (stream.readableEnded || stream.destroyed) return
  stream.resume()
  const timer = setTimeout(() => stream.destroy(), unreadBodyMsMax).unref()
  stream.once('close', () => clearTimeout(timer))
}

/**
 * Bytes of an answer that are written at once: TLS makes a copy of each write that the client has
 * not taken.
 */
const writtenBytesMax = 1 << 20

/** A body in pieces of that size, none of them copied. */
function piecesOf(body: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += writtenBytesMax)
    pieces.push(body.subarray(at, at + writtenBytesMax))
  return pieces
}

/** One after the other, each when there is room for it. */
async function writeInTurn(response: Writable, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return
    if (!response.write(piece)) await drained(response)
  }
  response.end()
}

function sinkOf(stream: Writable): Sink {
  return {
    write: (bytes) => stream.write(bytes),
    drained: () => drained(stream),
    end: () => {
      if (!stream.writableEnded) stream.end()
    },
    abort: () => void stream.destroy(),
    onClose: (listener) => void stream.once('close', listener),
    get closed() {
      return stream.destroyed === true || stream.writableEnded === true
    },
  }
}

/**
 * Sends `100 Continue` once, if the client waits for it. A client that did not get it may send the
 * body or not, so that nothing can follow on its connection.
 */
function invitation(response: http.ServerResponse): () => void {
  response.shouldKeepAlive = false
  return () => {
    if (response.shouldKeepAlive || response.headersSent || response.destroyed) return
    response.shouldKeepAlive = true
    response.writeContinue()
  }
}

export function wireOfHttp1(
  request: http.IncomingMessage,
  response: http.ServerResponse | undefined,
  asksFirst = false,
): Wire {
  const signal = lazySignal(request, response)
  const invite = asksFirst && response !== undefined ? invitation(response) : () => {}
  return {
    method: request.method as string,
    url: pathOf(request.url as string),
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress ?? '',
    get separateHeaders() {
      return separateHeaders(request.rawHeaders)
    },
    clientCertificate: certificateOf(request.socket as TLSSocket),
    readBody(limit) {
      const declared = Number(request.headers['content-length'] ?? 0)
      if (declared <= limit) invite()
      return collect(request, declared, limit)
    },
    bodyStream() {
      if (!hasBody(request)) return undefined
      invite()
      return request
    },
    answer(status, extra, body) {
      if (response === undefined || response.headersSent || response.destroyed) return
      const length = body === undefined ? 0 : body.length
      const headers = bodiless.has(status) ? extra : { ...extra, 'content-length': length }
      response.writeHead(status, headers as http.OutgoingHttpHeaders)
      if (body !== undefined && length > writtenBytesMax && request.method !== 'HEAD')
        void writeInTurn(response, piecesOf(body))
      else response.end(request.method === 'HEAD' ? undefined : body)
      if (!request.complete) boundUnread(request)
    },
    answerPieces(status, extra, pieces) {
      if (response === undefined || response.headersSent || response.destroyed) return
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
      response.writeHead(status, { ...extra, 'content-length': length } as http.OutgoingHttpHeaders)
      if (request.method === 'HEAD') response.end()
      else void writeInTurn(response, pieces)
    },
    stream(status, extra) {
      if (response === undefined) throw new Error('an upgraded connection has no answer to stream')
      response.writeHead(status, extra as http.OutgoingHttpHeaders)
      // Sends the head as the bytes it is made of; flushed, it would be taken for text.
      response.write(noBytes)
      return sinkOf(response)
    },
    get isWaiting() {
      if (response === undefined || !response.headersSent || response.destroyed) return false
      return !response.writableEnded || response.writableLength > waitingBytesMin
    },
    onClose(listener) {
      // A closed response has no further events.
      if (response?.closed) listener()
      else response?.once('close', listener)
    },
    abort: () => void response?.destroy(),
    get signal() {
      return signal()
    },
  }
}
