/**
 * The pieces of a body that is being received. Short pieces are combined, because each buffer costs
 * a hundred bytes besides its own. A client may send as many pieces as its body has bytes.
 */

const shortBytesMax = 1024
const roomBytes = 16 * 1024

export class BodyPieces {
  #pieces: Buffer[] = []
  /** The buffer for short pieces, and its used size. */
  #room: Buffer | undefined
  #filled = 0
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return
    this.#bytes += piece.length
    // Most bodies are a single piece, which is not copied.
    if (piece.length > shortBytesMax || this.#bytes === piece.length) {
      this.#endRoom()
      this.#pieces.push(piece)
      return
    }
    if (this.#room !== undefined && this.#filled + piece.length > roomBytes) this.#endRoom()
    this.#room ??= Buffer.allocUnsafe(roomBytes)
    this.#filled += piece.copy(this.#room, this.#filled)
  }

  #endRoom(): void {
    if (this.#room !== undefined) this.#pieces.push(this.#room.subarray(0, this.#filled))
    this.#room = undefined
    this.#filled = 0
  }

  all(): readonly Buffer[] {
    this.#endRoom()
    return this.#pieces
  }

  joined(): Buffer {
    const pieces = this.all()
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
  }

  /** Drops the received bytes. */
  forget(): void {
    this.#pieces = []
    this.#room = undefined
    this.#filled = 0
  }
}
