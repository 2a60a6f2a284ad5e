/**
 * A log as WebSocket messages: first an empty one, then the container's output as bytes or as
 * base64 text.
 */
import type { Exchange, Sink } from '#http/exchange.ts'
import { type ChooseProtocol, openWebSocket } from './websocket.ts'
import { frame, opcodes } from './websocket-frames.ts'

const asText = 'base64.binary.k8s.io'
const protocols = new Set(['', 'binary.k8s.io', asText])

/** Chooses the first requested subprotocol that is supported. */
const choose: ChooseProtocol = (requested) =>
  (requested.length === 0 ? [''] : requested).find((one) => protocols.has(one)) ?? {
    status: 403,
    words: '',
  }

/** Undefined if the client was rejected with a response. */
export function openLogSocket(exchange: Exchange): Sink | undefined {
  const opened = openWebSocket(exchange, choose)
  if (opened === undefined) return undefined
  const { sink } = opened
  const message =
    opened.protocol === asText
      ? (bytes: Buffer) => frame(opcodes.text, Buffer.from(bytes.toString('base64')))
      : (bytes: Buffer) => frame(opcodes.binary, bytes)
  sink.write(message(Buffer.alloc(0)))
  return {
    write: (bytes) => sink.write(message(bytes)),
    drained: () => sink.drained(),
    end: () => sink.end(),
    abort: () => sink.abort?.(),
    onClose: (listener) => sink.onClose?.(listener),
    get closed() {
      return sink.closed
    },
  }
}
