/** An HTTP/1.1 request as a `Wire`. */
import type http from 'node:http'
import type { Readable, Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { tooLarge } from '#api/status-error.ts'
import { separateHeaders } from '#access/authenticate/header-values.ts'
import { BodyPieces } from './body-pieces.ts'
import { certificatesOf } from './client-certificates.ts'
import type { ClientCertificates, Sink, Wire } from '#http/exchange.ts'
import { drained } from './drained.ts'

/** Reads the body into one buffer. A body over the limit is rejected and its bytes are dropped. */
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

/** Statuses without a body and a Content-Length. */
const bodiless = new Set([204, 304])

/** In HTTP/1.1, headers determine whether a request has a body, not its method. */
const hasBody = ({ headers }: http.IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The path of the request. Proxies and their clients send an absolute URL. */
const pathOf = (target: string): string =>
  target.startsWith('/')
    ? target
    : target.replace(/^https?:\/\/[^/?]*(?=([/?]?))/i, (_, next) => (next === '/' ? '' : '/'))

/** Parsed once per connection, because all its requests have the same client. */
const certificates = new WeakMap<object, ClientCertificates | undefined>()

const certificateOf = (socket: TLSSocket) => (): ClientCertificates | undefined => {
  if (certificates.has(socket)) return certificates.get(socket)
  const found = certificatesOf(socket)
  certificates.set(socket, found)
  return found
}

/**
 * Makes one signal per request on first use; it is aborted at once if the client has already
 * disconnected.
 */
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
 * How long a client may send an unread body after the response: enough to notice the response, too
 * little to occupy a connection.
 */
const unreadBodyMsMax = 5000

/** A response counts as waiting if the socket has more unsent bytes than this. */
const waitingBytesMin = 64 * 1024

function boundUnread(stream: Readable): void {
  if (stream.readableEnded || stream.destroyed) return
  stream.resume()
  const timer = setTimeout(() => stream.destroy(), unreadBodyMsMax).unref()
  stream.once('close', () => clearTimeout(timer))
}

/** Large bodies are written in pieces of this size, because TLS copies each unsent write. */
const writtenBytesMax = 1 << 20

/** Slices the body into such pieces without copying. */
function piecesOf(body: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += writtenBytesMax)
    pieces.push(body.subarray(at, at + writtenBytesMax))
  return pieces
}

/** Writes the pieces one after another, each when the socket has room. */
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
 * Sends `100 Continue` once, if the client waits for it. Without it the client may send the body or
 * not, so the connection cannot be reused.
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
      // An empty write sends the head as bytes; flushHeaders would treat it as text.
      response.write(noBytes)
      return sinkOf(response)
    },
    get isWaiting() {
      if (response === undefined || !response.headersSent || response.destroyed) return false
      return !response.writableEnded || response.writableLength > waitingBytesMin
    },
    onClose(listener) {
      // A closed response emits no more events.
      if (response?.closed) listener()
      else response?.once('close', listener)
    },
    abort: () => void response?.destroy(),
    get signal() {
      return signal()
    },
  }
}
