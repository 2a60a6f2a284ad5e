/**
 * Sends watches and logs as WebSocket messages, for browsers that cannot read a stream. It performs
 * the handshake and returns a sink that writes complete frames. Of the client's frames it handles
 * ping and close; data is ignored.
 */
import { createHash } from 'node:crypto'
import { withoutTokenProtocol } from '#access/authenticate/bearer.ts'
import type { Exchange, Sink } from '#http/exchange.ts'
import { closeFrame, closeStatus, frame, FrameReader, opcodes } from './websocket-frames.ts'
import { drained } from '#http/connections/drained.ts'

export const wantsWebSocket = ({ wire }: Exchange): boolean =>
  wire.upgrade !== undefined && String(wire.headers.upgrade).toLowerCase() === 'websocket'

interface Refused {
  readonly status: number
  readonly words: string
}

/** Selects one of the requested subprotocols ('' for none), or rejects the request. */
export type ChooseProtocol = (requested: readonly string[], origin: string) => string | Refused

const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

/** Undefined if the request was rejected; the response is then sent. */
export function openWebSocket(
  exchange: Exchange,
  choose: ChooseProtocol,
): { readonly sink: Sink; readonly protocol: string } | undefined {
  const { wire } = exchange
  const chosen = handshake(exchange, choose)
  if (typeof chosen !== 'string') {
    exchange.status = chosen.status
    wire.answer(chosen.status, {}, Buffer.from(chosen.words))
    return undefined
  }
  exchange.status = 101
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(String(wire.headers['sec-websocket-key']))}`,
    ...(chosen === '' ? [] : [`Sec-WebSocket-Protocol: ${chosen}`]),
  ]
  const sink = sinkOf(wire.upgrade as NonNullable<typeof wire.upgrade>, lines)
  return { sink, protocol: chosen }
}

function handshake({ wire }: Exchange, choose: ChooseProtocol): string | Refused {
  const { headers } = wire
  const stated = (name: string) => String(headers[name] ?? '')
  if (stated('sec-websocket-key') === '')
    return { status: 400, words: 'mismatch challenge/response' }
  if (stated('sec-websocket-version') !== '13')
    return { status: 400, words: 'missing or bad WebSocket Version' }
  const requested = withoutTokenProtocol(headers['sec-websocket-protocol'])
  const protocols = requested === '' ? [] : requested.split(',').map((one) => one.trim())
  return choose(protocols, stated('origin'))
}

/** How long a client may take to read the last bytes. */
const lastBytesMs = 10_000
/**
 * Pings are not answered while more bytes than this are unread: a client that sends pings and reads
 * nothing would fill the memory.
 */
const unreadBytesMax = 64 * 1024

function sinkOf({ socket, head }: NonNullable<Exchange['wire']['upgrade']>, lines: string[]): Sink {
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const end = (status: number) => {
    if (!socket.writable) return
    const timer = setTimeout(() => socket.destroy(), lastBytesMs).unref()
    socket.once('close', () => clearTimeout(timer))
    socket.end(closeFrame(status), () => socket.destroy())
  }
  const reader = new FrameReader({
    ping(bytes) {
      if (!socket.writable || socket.writableLength > unreadBytesMax) return
      socket.write(frame(opcodes.pong, bytes))
    },
    close: end,
  })
  socket.on('data', (bytes: Buffer) => reader.take(bytes))
  socket.on('end', () => end(closeStatus.normal))
  socket.on('error', () => {})
  if (head.length > 0) reader.take(head)
  return {
    write: (bytes) => !socket.writable || socket.write(bytes),
    drained: () => drained(socket),
    end: () => end(closeStatus.normal),
    abort: () => void socket.destroy(),
    onClose: (listener) => void socket.once('close', listener),
    get closed() {
      return !socket.writable
    },
  }
}
