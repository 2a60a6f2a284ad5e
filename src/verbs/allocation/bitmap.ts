/**
 * A set of small numbers as the bits of a big-endian number: the format of a RangeAllocation.
 * Leading zero bytes are omitted. Example: the numbers 0 and 9 are `02 01`.
 */
export class Bitmap {
  /** The bytes, the lowest numbers first. */
  #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  static of(bytes: Uint8Array = new Uint8Array(0)): Bitmap {
    return new Bitmap(Uint8Array.from(bytes).reverse())
  }

  copy(): Bitmap {
    return new Bitmap(this.#bytes.slice())
  }

  has(number: number): boolean {
    return ((this.#bytes[number >> 3] ?? 0) & (1 << (number & 7))) !== 0
  }

  add(number: number): void {
    const at = number >> 3
    if (at >= this.#bytes.length) {
      const wider = new Uint8Array(at + 1)
      wider.set(this.#bytes)
      this.#bytes = wider
    }
    this.#bytes[at] = (this.#bytes[at] as number) | (1 << (number & 7))
  }

  delete(number: number): void {
    const at = number >> 3
    const byte = this.#bytes[at]
    if (byte !== undefined) this.#bytes[at] = byte & ~(1 << (number & 7))
  }

  /** The numbers in ascending order. */
  *numbers(): Generator<number> {
    for (const [at, byte] of this.#bytes.entries()) {
      if (byte === 0) continue
      for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) yield at * 8 + bit
    }
  }

  bytes(): Buffer {
    let { length } = this.#bytes
    while (length > 0 && this.#bytes[length - 1] === 0) length--
    return Buffer.from(this.#bytes.subarray(0, length)).reverse()
  }
}
