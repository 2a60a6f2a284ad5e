/**
 * Protobuf's wire format without a schema: varints, fixed-size numbers and length-delimited bytes.
 * The writer fills its buffer from the end to the front. So the length of a nested message is known
 * before it is written, and no bytes are moved. The reader checks all lengths and never reads past
 * its end.
 */

export const wireVarint = 0
export const wireFixed64 = 1
export const wireBytes = 2
const wireGroupEnd = 4
const wireFixed32 = 5

/** Invalid protobuf. The message is Go's if Go has one. */
export class WireError extends Error {
  override name = 'WireError'
}

/** Up to this length a loop is faster than a call of the runtime's string encoder. */
const shortLengthMax = 24

export class WireWriter {
  #buffer: Buffer
  /** Index of the first written byte. */
  #at: number

  constructor(capacity = 4096) {
    this.#buffer = Buffer.allocUnsafeSlow(capacity)
    this.#at = capacity
  }

  /**
   * The number of bytes written so far. The difference of two values is the length of the bytes
   * written in between.
   */
  get length(): number {
    return this.#buffer.length - this.#at
  }

  /** Discards the written bytes and keeps the buffer. */
  clear(): void {
    this.#at = this.#buffer.length
  }

  /** Replaces a large buffer with a small one. */
  shrink(capacity = 4096): void {
    this.#buffer = Buffer.allocUnsafeSlow(capacity)
    this.#at = capacity
  }

  /** A copy of the written bytes. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(this.#at))
  }

  /** A copy with its own memory, which the caller may retain. */
  ownBytes(): Buffer {
    const own = Buffer.allocUnsafeSlow(this.length)
    this.#buffer.copy(own, 0, this.#at)
    return own
  }

  #reserve(size: number): void {
    if (this.#at >= size) return
    const length = this.length
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, length + size))
    const at = grown.length - length
    this.#buffer.copy(grown, at, this.#at)
    this.#buffer = grown
    this.#at = at
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[--this.#at] = value
  }

  /** A non-negative safe integer. */
  varint(value: number): void {
    if (value < 0x80) {
      this.byte(value)
      return
    }
    let size = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
    this.#reserve(size)
    this.#at -= size
    let at = this.#at
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[at] = rest
  }

  /** A 64-bit integer. A negative value takes ten bytes (two's complement). */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value)
      return
    }
    let rest = BigInt.asUintN(64, BigInt(value))
    const groups: number[] = []
    while (rest >= 0x80n) {
      groups.push(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    groups.push(Number(rest))
    for (let i = groups.length - 1; i >= 0; i--) this.byte(groups[i])
  }

  double(value: number): void {
    this.#reserve(8)
    this.#at -= 8
    this.#buffer.writeDoubleLE(value, this.#at)
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#at -= bytes.length
    this.#buffer.set(bytes, this.#at)
  }

  /**
   * Writes the length of all bytes written since `start`. `start` is an earlier value of `length`.
   */
  lengthSince(start: number): void {
    this.varint(this.length - start)
  }

  /** Writes a length and then the bytes. */
  delimited(bytes: Uint8Array): void {
    this.raw(bytes)
    this.varint(bytes.length)
  }

  /** Writes the length of a text and then its UTF-8 bytes. */
  string(text: string): void {
    const start = this.length
    if (text.length > shortLengthMax || !this.#ascii(text)) {
      const size = Buffer.byteLength(text)
      this.#reserve(size)
      this.#at -= size
      this.#buffer.write(text, this.#at, size, 'utf8')
    }
    this.lengthSince(start)
  }

  /** Writes a short ASCII text. Returns false, with nothing written, for other characters. */
  #ascii(text: string): boolean {
    this.#reserve(text.length)
    let at = this.#at
    for (let i = text.length - 1; i >= 0; i--) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) return false
      this.#buffer[--at] = code
    }
    this.#at = at
    return true
  }
}

/** Tags with this many bytes have fewer than 32 bits. */
const shortTagBytes = 4
const fieldNumberMax = 2 ** 29 - 1

export class WireReader {
  readonly #buffer: Buffer
  #at: number
  #end: number

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer
    this.#at = start
    this.#end = end
  }

  get done(): boolean {
    return this.#at >= this.#end
  }

  /**
   * Limits the reader to the next length-delimited value. Pass the returned value to `leave`
   * afterwards.
   */
  enter(): number {
    const length = this.#length()
    const outer = this.#end
    this.#end = this.#at + length
    return outer
  }

  leave(outer: number): void {
    this.#at = this.#end
    this.#end = outer
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new WireError('unexpected EOF')
    return this.#buffer[this.#at++]
  }

  /** A field's number and wire type, as `number * 8 + type`. Errors name `message`. */
  tag(message = 'message'): number {
    const start = this.#at
    const tag = this.uint32()
    if ((tag & 7) === wireGroupEnd)
      throw new WireError(`proto: ${message}: wiretype end group for non-group`)
    if (this.#at - start > shortTagBytes) return this.#longTag(start, message)
    if (tag < 8) throw new WireError(`proto: ${message}: illegal tag 0 (wire type ${tag})`)
    return tag
  }

  /**
   * Go's field numbers are signed 32-bit integers. Field numbers above protobuf's maximum are
   * treated alike.
   */
  #longTag(start: number, message: string): number {
    this.#at = start
    const tag = BigInt(this.uint64())
    const number = Number(BigInt.asIntN(32, tag >> 3n))
    if (number <= 0)
      throw new WireError(`proto: ${message}: illegal tag ${number} (wire type ${tag})`)
    return Math.min(number, fieldNumberMax) * 8 + Number(tag & 7n)
  }

  /**
   * Reads a varint as an unsigned 32-bit integer. Higher bits are discarded, as in Go's conversion.
   */
  uint32(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    let low = first & 0x7f
    for (let shift = 7; shift < 64; shift += 7) {
      const byte = this.#byte()
      if (shift < 32) low = (low | ((byte & 0x7f) << shift)) >>> 0
      if (byte < 0x80) return low
    }
    throw new WireError('proto: integer overflow')
  }

  int32(): number {
    return this.uint32() | 0
  }

  bool(): boolean {
    return this.uint64() !== 0
  }

  /** An unsigned 64-bit varint; a number if it is exact. */
  uint64(): number | bigint {
    let value = 0
    let scale = 1
    for (let i = 0; i < 7; i++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
    let high = 0n
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      high |= BigInt(byte & 0x7f) << shift
      if (byte >= 0x80) continue
      const whole = BigInt.asUintN(64, BigInt(value) + high)
      return whole <= Number.MAX_SAFE_INTEGER ? Number(whole) : whole
    }
    throw new WireError('proto: integer overflow')
  }

  int64(): number | bigint {
    const value = this.uint64()
    if (typeof value === 'number') return value
    const signed = BigInt.asIntN(64, value)
    return signed >= Number.MIN_SAFE_INTEGER && signed <= Number.MAX_SAFE_INTEGER
      ? Number(signed)
      : signed
  }

  double(): number {
    if (this.#at + 8 > this.#end) throw new WireError('unexpected EOF')
    const value = this.#buffer.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  #length(): number {
    const length = this.int64()
    if (length < 0) throw new WireError('proto: negative length found during unmarshaling')
    if (length > this.#end - this.#at) throw new WireError('unexpected EOF')
    return Number(length)
  }

  /** A view of the next length-delimited bytes. */
  bytes(): Buffer {
    const length = this.#length()
    this.#at += length
    return this.#buffer.subarray(this.#at - length, this.#at)
  }

  string(): string {
    const length = this.#length()
    this.#at += length
    return this.#buffer.toString('utf8', this.#at - length, this.#at)
  }

  /** Skips the value of an unknown field. Groups are followed to their end, without recursion. */
  skip(tag: number): void {
    let depth = 0
    let type = tag & 7
    for (;;) {
      if (type === wireVarint) this.uint64()
      else if (type === wireFixed64) this.#pass(8)
      else if (type === wireBytes) this.#pass(this.#length())
      else if (type === 3) depth++
      else if (type === wireGroupEnd && depth > 0) depth--
      else if (type === wireFixed32) this.#pass(4)
      else throw new WireError(`proto: illegal wireType ${type}`)
      if (depth === 0) return
      type = this.uint32() & 7
    }
  }

  #pass(size: number): void {
    if (size > this.#end - this.#at) throw new WireError('unexpected EOF')
    this.#at += size
  }
}
