/** The two ways a request arrives, as one `Wire`. */
import type { X509Certificate } from 'node:crypto'
import type http from 'node:http'
import type http2 from 'node:http2'
import type { Readable, Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { tooLarge } from '#api/status-error.ts'
import { separateHeaders } from '#access/authenticate/header-values.ts'
import type { AnswerHeaders, ClientCertificates, Sink, Wire } from './exchange.ts'

/** The body as one buffer. A body over the limit is refused without being kept. */
function collect(
  stream: NodeJS.ReadableStream,
  declared: number,
  limitBytes: number,
): Promise<Buffer> {
  const refuse = () => tooLarge(`Request entity too large: limit is ${limitBytes}`)
  if (declared > limitBytes) {
    stream.resume()
    return Promise.reject(refuse())
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limitBytes) return void chunks.push(chunk)
      chunks.length = 0
      reject(refuse())
    })
    let ended = false
    stream.on('end', () => {
      ended = true
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
    stream.on('error', reject)
    stream.on('close', () => {
      if (!ended) reject(new Error('the client went away'))
    })
  })
}

/** Parsed once per connection: all of its requests come from the same client. */
const certificates = new WeakMap<object, ClientCertificates | undefined>()

/** The client's certificate and those it sent with it; nothing where it sent none. */
const certificateOf = (socket: TLSSocket | undefined) => (): ClientCertificates | undefined => {
  if (socket === undefined) return undefined
  if (certificates.has(socket)) return certificates.get(socket)
  const found = certificatesOf(socket)
  certificates.set(socket, found)
  return found
}

function certificatesOf(socket: TLSSocket): ClientCertificates | undefined {
  const leaf = socket.getPeerX509Certificate?.()
  if (leaf === undefined) return undefined
  const intermediates: X509Certificate[] = []
  for (let next = leaf.issuerCertificate; next !== undefined; next = next.issuerCertificate) {
    if (next === leaf || intermediates.includes(next) || intermediates.length >= chainLengthMax)
      break
    intermediates.push(next)
  }
  return { leaf, intermediates }
}

/** Longest chain a client may send: more than any authority uses. */
const chainLengthMax = 8

/** One signal for the wire's whole life, made only when somebody asks. */
function lazySignal(onClose: (listener: () => void) => void): () => AbortSignal {
  let controller: AbortController | undefined
  return () => {
    if (controller === undefined) {
      controller = new AbortController()
      onClose(() => controller?.abort())
    }
    return controller.signal
  }
}

/**
 * How long a client that has its answer may go on sending the body nobody waits for: enough to notice the answer, too
 * little to keep a connection by an endless one.
 */
const unreadBodyMsMax = 5000

function boundUnread(stream: Readable): void {
  if (stream.readableEnded || stream.destroyed) return
  stream.resume()
  const timer = setTimeout(() => stream.destroy(), unreadBodyMsMax).unref()
  stream.once('close', () => clearTimeout(timer))
}

function sinkOf(stream: Writable): Sink {
  return {
    write: (bytes) => stream.write(bytes),
    drained: () =>
      new Promise((resolve) => {
        const done = () => {
          stream.off('drain', done)
          stream.off('close', done)
          resolve()
        }
        stream.on('drain', done)
        stream.on('close', done)
        if (stream.destroyed) done()
      }),
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

export function wireOfHttp2(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Wire {
  const signal = lazySignal((listener) => stream.once('close', listener))
  const respond = (status: number, extra: AnswerHeaders, ended: boolean) => {
    if (stream.destroyed || stream.headersSent) return false
    stream.respond({ ':status': status, ...extra } as http2.OutgoingHttpHeaders, {
      endStream: ended,
    })
    return true
  }
  return {
    method: headers[':method'] as string,
    url: headers[':path'] as string,
    headers,
    get remoteAddress() {
      return stream.session?.socket?.remoteAddress ?? ''
    },
    get separateHeaders() {
      return separateHeaders(rawHeaders)
    },
    clientCertificate: certificateOf(stream.session?.socket as TLSSocket | undefined),
    readBody: (limit) =>
      stream.endAfterHeaders
        ? Promise.resolve(Buffer.alloc(0))
        : collect(stream, Number(headers['content-length'] ?? 0), limit),
    bodyStream: () => stream,
    answer(status, extra, body) {
      const empty = body === undefined || body.length === 0 || headers[':method'] === 'HEAD'
      if (respond(status, extra, empty) && !empty) stream.end(body)
      if (!stream.endAfterHeaders) boundUnread(stream)
    },
    answerPieces(status, extra, pieces) {
      if (!respond(status, extra, headers[':method'] === 'HEAD') || headers[':method'] === 'HEAD')
        return
      for (const piece of pieces) stream.write(piece)
      stream.end()
    },
    stream(status, extra) {
      respond(status, extra, false)
      return sinkOf(stream)
    },
    get signal() {
      return signal()
    },
  }
}

export function wireOfHttp1(
  request: http.IncomingMessage,
  response: http.ServerResponse | undefined,
): Wire {
  const signal = lazySignal((listener) => (response ?? request).once('close', listener))
  return {
    method: request.method as string,
    url: request.url as string,
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress ?? '',
    get separateHeaders() {
      return separateHeaders(request.rawHeaders)
    },
    clientCertificate: certificateOf(request.socket as TLSSocket),
    readBody: (limit) => collect(request, Number(request.headers['content-length'] ?? 0), limit),
    bodyStream: () => request,
    answer(status, extra, body) {
      if (response === undefined || response.headersSent || response.destroyed) return
      const length = body === undefined ? 0 : body.length
      response.writeHead(status, { ...extra, 'content-length': length } as http.OutgoingHttpHeaders)
      response.end(request.method === 'HEAD' ? undefined : body)
      if (!request.complete) boundUnread(request)
    },
    answerPieces(status, extra, pieces) {
      if (response === undefined || response.headersSent || response.destroyed) return
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
      response.writeHead(status, { ...extra, 'content-length': length } as http.OutgoingHttpHeaders)
      if (request.method !== 'HEAD') for (const piece of pieces) response.write(piece)
      response.end()
    },
    stream(status, extra) {
      if (response === undefined) throw new Error('an upgraded connection has no answer to stream')
      response.writeHead(status, extra as http.OutgoingHttpHeaders)
      response.flushHeaders()
      return sinkOf(response)
    },
    get signal() {
      return signal()
    },
  }
}
