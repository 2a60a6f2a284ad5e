/**
 * A request that asks to leave HTTP, as a `Wire`. As long as nobody took the connection, answers are written as ordinary
 * HTTP/1.1 and end it; once bytes of the other protocol flow, nothing is written here any more.
 */
import http from 'node:http'
import type { Duplex } from 'node:stream'
import type { AnswerHeaders, Sink, Wire } from '#http/exchange.ts'
import { wireOfHttp1 } from '#http/http1-wire.ts'
import { drained } from '#http/drained.ts'

function headText(status: number, headers: AnswerHeaders): string {
  const lines = [`HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`]
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) lines.push(`${name}: ${one}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

export function wireOfUpgrade(request: http.IncomingMessage, socket: Duplex, head: Buffer): Wire {
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  const begin = (status: number, headers: AnswerHeaders) => {
    socket.write(headText(status, { ...headers, connection: 'close' }))
  }
  return {
    ...wireOfHttp1(request, undefined),
    upgrade: { socket, head },
    signal: gone.signal,
    answer(status, headers, body) {
      if (!socket.writable) return
      begin(status, { ...headers, 'content-length': body?.length ?? 0 })
      socket.end(request.method === 'HEAD' ? undefined : body)
      // Whoever does not hang up after its answer is hung up on.
      socket.resume()
    },
    stream(status, headers): Sink {
      begin(status, headers)
      return {
        write: (bytes) => socket.write(bytes),
        drained: () => drained(socket),
        end: () => void socket.end(),
        abort: () => void socket.destroy(),
        onClose: (listener) => void socket.once('close', listener),
        get closed() {
          return !socket.writable
        },
      }
    },
  }
}
