/**
 * Counts the bytes of complete responses that wait for slow clients. Each is limited, and their sum
 * must be limited too, even if no client reads. Shared responses and streamed ones are not counted.
 */
import type { Wire } from '#http/exchange.ts'

/**
 * Above this limit no large response is encoded in advance: as much memory as a busy server needs
 * itself.
 */
const heldBytesMax = 256 << 20

export class PendingResponses {
  readonly #bytesMax: number
  #bytes = 0
  /** The bytes of each client, because a long list has many pieces. */
  readonly #bytesOf = new WeakMap<Wire, number>()

  constructor(bytesMax = heldBytesMax) {
    this.#bytesMax = bytesMax
  }

  get isMuch(): boolean {
    return this.#bytes > this.#bytesMax
  }

  /** Counts the bytes until the client has read them or has disconnected. */
  add(wire: Wire, bytes: number): void {
    if (wire.onClose === undefined) return
    this.#bytes += bytes
    const before = this.#bytesOf.get(wire)
    this.#bytesOf.set(wire, (before ?? 0) + bytes)
    if (before !== undefined) return
    wire.onClose(() => {
      this.#bytes -= this.#bytesOf.get(wire) ?? 0
      this.#bytesOf.delete(wire)
    })
  }
}
