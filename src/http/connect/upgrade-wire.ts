/**
 * An upgrade request as a `Wire`. Until a handler takes over the connection, responses are ordinary
 * HTTP/1.1 and close it. Afterwards this class writes nothing.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { http } from '#base/node-http.ts'
import type { AnswerHeaders, Sink, Wire } from '#http/exchange.ts'
import { wireOfHttp1 } from '#http/connections/http1-wire.ts'
import { drained } from '#http/connections/drained.ts'

function headText(status: number, headers: AnswerHeaders): string {
  const lines = [`HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`]
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) lines.push(`${name}: ${one}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

export function wireOfUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Wire {
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  let isBegun = false
  const begin = (status: number, headers: AnswerHeaders) => {
    isBegun = true
    // Headers have one character per byte.
    socket.write(headText(status, { ...headers, connection: 'close' }), 'latin1')
  }
  const answerPieces: Wire['answerPieces'] = (status, headers, pieces) => {
    if (isBegun || !socket.writable) return
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    begin(status, { ...headers, 'content-length': length })
    if (request.method !== 'HEAD') for (const piece of pieces) socket.write(piece)
    socket.end()
    // How long the client may take to close the connection after its response.
    socket.resume()
  }
  const onClose = (listener: () => void) => {
    if (socket.closed) listener()
    else socket.once('close', listener)
  }
  return {
    ...wireOfHttp1(request, undefined),
    upgrade: { socket, head },
    signal: gone.signal,
    answer: (status, headers, body) =>
      answerPieces(status, headers, body === undefined ? [] : [body]),
    answerPieces,
    stream(status, headers): Sink {
      begin(status, headers)
      // A socket reports its end only if it is being read.
      socket.once('end', () => socket.destroy())
      socket.resume()
      return {
        write: (bytes) => socket.write(bytes),
        drained: () => drained(socket),
        end: () => void socket.end(),
        abort: () => void socket.destroy(),
        onClose,
        get closed() {
          return !socket.writable
        },
      }
    },
    get isWaiting() {
      return isBegun && !socket.destroyed && socket.writableLength > 0
    },
    onClose,
    abort: () => void socket.destroy(),
  }
}
