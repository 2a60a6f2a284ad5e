/**
 * Buffers bytes that reach Node's HTTP parser while it is paused. Node pauses it if a client sends
 * its next request before it has read the last response. Bytes that TLS already decrypted still
 * arrive, and the parser rejects them. They are valid, so they are kept and read again when the
 * socket resumes.
 */
import type { Socket } from 'node:net'
import type { ParserError } from './http1-unknown-method.ts'

export class PausedParsers {
  readonly #held = new WeakMap<Socket, Buffer[]>()

  /** Whether the error only means that the parser is paused; its bytes are then kept. */
  takes({ code, rawPacket }: ParserError, socket: Socket): boolean {
    if (code !== 'HPE_PAUSED' || rawPacket === undefined) return false
    const held = this.#held.get(socket)
    if (held !== undefined) held.push(rawPacket)
    else {
      this.#held.set(socket, [rawPacket])
      // Node resumes the parser at the same event, before this listener.
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
