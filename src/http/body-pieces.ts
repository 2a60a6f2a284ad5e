/**
 * A body as it comes, piece by piece. Short pieces are put together: kept as it is, each would cost
 * a hundred bytes beside its own, and a client may send as many as its body has bytes.
 */

const shortBytesMax = 1024
const roomBytes = 16 * 1024

export class BodyPieces {
  #pieces: Buffer[] = []
  /** Where short pieces are put, and how far it is filled. */
  #room: Buffer | undefined
  #filled = 0
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return
    this.#bytes += piece.length
    // Most bodies are one piece, and stay what they are.
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

  /** What came is of no use, nor is what still comes. */
  forget(): void {
    this.#pieces = []
    this.#room = undefined
    this.#filled = 0
  }
}
