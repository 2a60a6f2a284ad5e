/**
 * How much of whole answers waits for slow clients. What one may hold is small; the sum must be as
 * well, also if no client reads. Shared answers, and those made as the client reads, are not
 * counted.
 */
import type { Wire } from './exchange.ts'

/**
 * From where on nothing large is made ahead of its client: as much as a busy server needs for
 * itself.
 */
const heldBytesMax = 256 << 20

export class PendingResponses {
  readonly #bytesMax: number
  #bytes = 0
  /**
   * The bytes of each client: one that takes a long list holds many pieces, one after the other.
   */
  readonly #bytesOf = new WeakMap<Wire, number>()

  constructor(bytesMax = heldBytesMax) {
    this.#bytesMax = bytesMax
  }

  get isMuch(): boolean {
    return this.#bytes > this.#bytesMax
  }

  /** Counted until the client has taken it, or is gone. */
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
