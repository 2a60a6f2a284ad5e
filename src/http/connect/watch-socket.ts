/**
 * A watch as WebSocket messages: each event is one message, text for JSON and binary for protobuf.
 */
import { after } from '#base/awaitable.ts'
import type { Exchange, Sink } from '#http/exchange.ts'
import type { Framer } from '#http/watch/watch-stream.ts'
import { type ChooseProtocol, openWebSocket, wantsWebSocket } from './websocket.ts'
import { frame, opcodes } from './websocket-frames.ts'

/**
 * Browsers send their origin, and only they read watches this way: a request without one is
 * rejected.
 */
const origin = /^(\*|([a-z][a-z0-9+.-]*:)?\/\S*)$/i

/** Any single requested subprotocol is accepted: it changes nothing. */
const choose: ChooseProtocol = (requested, stated) => {
  if (!origin.test(stated)) return { status: 403, words: '' }
  return requested.length > 1 ? { status: 400, words: '' } : (requested[0] ?? '')
}

export interface Messages {
  /** Undefined if the client was rejected with a response. */
  open(): Sink | undefined
  /** Converts one event from its stream format. */
  message(event: Buffer): Buffer
  framed(framer: Framer): Framer
}

/** In a stream, a protobuf event has a length prefix; a message needs none. */
const lengthBytes = 4

/** Undefined for a client that requests something else. */
export function messagesFor(exchange: Exchange, protobuf: boolean): Messages | undefined {
  if (!wantsWebSocket(exchange)) return undefined
  const message = (event: Buffer) =>
    protobuf ? frame(opcodes.binary, event.subarray(lengthBytes)) : frame(opcodes.text, event)
  return {
    open: () => openWebSocket(exchange, choose)?.sink,
    message,
    framed: (framer) => ({
      shape: framer.shape === '' ? '' : `message ${framer.shape}`,
      frame(type, entry, revision) {
        return after(framer.frame(type, entry, revision), message)
      },
      bookmark(revision, endsInitial) {
        const made = framer.bookmark(revision, endsInitial)
        return made && message(made)
      },
    }),
  }
}
