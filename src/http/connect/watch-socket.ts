/** A watch as WebSocket messages: one event, one message, text for JSON and bytes for protobuf. */
import type { Exchange, Sink } from '#http/exchange.ts'
import type { Framer } from '#http/watch-stream.ts'
import { type ChooseProtocol, openWebSocket, wantsWebSocket } from './websocket.ts'
import { frame, opcodes } from './websocket-frames.ts'

/**
 * Browsers send their origin, and only they read watches this way: a request without one is
 * rejected.
 */
const origin = /^(\*|([a-z][a-z0-9+.-]*:)?\/\S*)$/i

/** Any single requested subprotocol is accepted: it changes nothing. */
const choose: ChooseProtocol = (asked, said) => {
  if (!origin.test(said)) return { status: 403, words: '' }
  return asked.length > 1 ? { status: 400, words: '' } : (asked[0] ?? '')
}

export interface Messages {
  /** Undefined if the client was rejected with a response. */
  open(): Sink | undefined
  /** One event as it stands in a stream. */
  message(event: Buffer): Buffer
  framed(framer: Framer): Framer
}

/** How long a protobuf event is stands before it in a stream; a message knows its length. */
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
        const made = framer.frame(type, entry, revision)
        return made instanceof Promise ? made.then(message) : message(made)
      },
      bookmark(revision, endsInitial) {
        const made = framer.bookmark(revision, endsInitial)
        return made && message(made)
      },
    }),
  }
}
