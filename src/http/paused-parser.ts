/**
 * Bytes that reach Node's parser while it is paused. It pauses where a client has not taken all of
 * an answer and sends its next request; what TLS has deciphered by then comes all the same, and the
 * parser refuses it. Nothing is wrong with such bytes: they are kept, few as they are, and come
 * again in their order when the socket goes on.
 */
import type { Socket } from 'node:net'
import type { ParserError } from './http1-unknown-method.ts'

export class PausedParsers {
  readonly #held = new WeakMap<Socket, Buffer[]>()

  /** Whether the error is no more than that; the bytes are kept then. */
  takes({ code, rawPacket }: ParserError, socket: Socket): boolean {
    if (code !== 'HPE_PAUSED' || rawPacket === undefined) return false
    const held = this.#held.get(socket)
    if (held !== undefined) held.push(rawPacket)
    else {
      this.#held.set(socket, [rawPacket])
      // Node goes on with the parser at the same sign, and first.
      socket.once('drain', () => this.goOn(socket))
    }
    return true
  }

  goOn(socket: Socket): void {
    const held = this.#held.get(socket)
    if (held === undefined || socket.isPaused() || socket.destroyed) return
    this.#held.delete(socket)
    socket.unshift(Buffer.concat(held))
  }
}
