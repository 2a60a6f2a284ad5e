/**
 * Decodes header blocks (RFC 7541) with the connection's dynamic table. request-head.ts interprets
 * names and values. A repeated block has the same result while the table is unchanged, so it is
 * cached.
 */
import { ConnectionError, errorCode } from './frames.ts'
import { type HeaderField, staticFields } from './header-fields.ts'
import { decodeHuffman } from './huffman.ts'
import { headerTableBytesMax } from './limits.ts'

/** The RFC's overhead per table entry. */
const fieldBytesExtra = 32

/** The number of cached blocks: enough for a client that repeats a few requests. */
const cachedBlocksMax = 8
/**
 * Larger blocks, encoded or decoded, are not cached, so that unauthenticated clients cannot fill
 * the memory.
 */
const cachedBytesMax = 2048

const broken = (why: string) => new ConnectionError(errorCode.compression, why)

export class HeaderDecoder<Fields> {
  readonly #bytesMax: number
  readonly #understand: (list: readonly string[]) => Fields
  /** Newest last; indexes of the protocol count from the newest. */
  readonly #table: HeaderField[] = []
  #tableBytes = 0
  #tableBytesMax = headerTableBytesMax
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  /**
   * Results of blocks that do not change the table, by their bytes. Cleared when the table changes.
   */
  readonly #blockCache = new Map<string, Fields>()
  #tableChanged = false
  #unpackedBytes = 0

  /**
   * `understand` interprets a list of alternating names and values. A block whose decoded size
   * exceeds `bytesMax` is rejected before that call.
   */
  constructor(bytesMax: number, understand: (list: readonly string[]) => Fields) {
    this.#bytesMax = bytesMax
    this.#understand = understand
  }

  decode(block: Buffer): Fields {
    if (block.length > cachedBytesMax) return this.#understand(this.#unpack(block))
    const bytes = block.toString('latin1')
    const known = this.#blockCache.get(bytes)
    if (known !== undefined) return known
    this.#tableChanged = false
    const fields = this.#understand(this.#unpack(block))
    if (this.#tableChanged || this.#unpackedBytes > cachedBytesMax) return fields
    if (this.#blockCache.size === cachedBlocksMax) this.#blockCache.clear()
    this.#blockCache.set(bytes, fields)
    return fields
  }

  #unpack(block: Buffer): string[] {
    this.#bytes = block
    this.#at = 0
    const list: string[] = []
    let mayResize = true
    this.#unpackedBytes = 0
    while (this.#at < block.length) {
      const first = block[this.#at] as number
      if ((first & 0xe0) === 0x20) {
        if (!mayResize) throw broken('the size of the header table changes within a block')
        this.#resize(this.#number(5))
        continue
      }
      mayResize = false
      const field = this.#field(first)
      this.#unpackedBytes += field.name.length + field.value.length + fieldBytesExtra
      if (this.#unpackedBytes > this.#bytesMax)
        throw new ConnectionError(errorCode.enhanceYourCalm, 'the headers are too large')
      list.push(field.name, field.value)
    }
    return list
  }

  #field(first: number): HeaderField {
    if ((first & 0x80) !== 0) return this.#fieldAt(this.#number(7))
    const addsToTable = (first & 0x40) !== 0
    const number = this.#number(addsToTable ? 6 : 4)
    const name = number === 0 ? this.#text() : this.#fieldAt(number).name
    const field = { name, value: this.#text() }
    if (addsToTable) this.#addToTable(field)
    return field
  }

  #fieldAt(number: number): HeaderField {
    const field =
      number < staticFields.length
        ? staticFields[number]
        : this.#table[this.#table.length - 1 - (number - staticFields.length)]
    if (number === 0 || field === undefined) throw broken('a header field that is not known')
    return field
  }

  #changeTable(): void {
    this.#tableChanged = true
    this.#blockCache.clear()
  }

  #addToTable(field: HeaderField): void {
    this.#changeTable()
    this.#table.push(field)
    this.#tableBytes += field.name.length + field.value.length + fieldBytesExtra
    this.#evict()
  }

  #resize(bytes: number): void {
    if (bytes > headerTableBytesMax) throw broken('the header table is too large')
    this.#changeTable()
    this.#tableBytesMax = bytes
    this.#evict()
  }

  #evict(): void {
    let gone = 0
    while (this.#tableBytes > this.#tableBytesMax) {
      const { name, value } = this.#table[gone++] as HeaderField
      this.#tableBytes -= name.length + value.length + fieldBytesExtra
    }
    if (gone > 0) this.#table.splice(0, gone)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw broken('a header block that ends too soon')
    return byte
  }

  /** An integer whose prefix is the last `bits` bits of the next byte. */
  #number(bits: number): number {
    const full = (1 << bits) - 1
    let value = this.#byte() & full
    if (value < full) return value
    for (let shift = 0; ; shift += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** shift
      if (shift > 21) throw broken('a number of a header block is too large')
      if ((byte & 0x80) === 0) return value
    }
  }

  #text(): string {
    const packed = ((this.#bytes[this.#at] as number) & 0x80) !== 0
    const length = this.#number(7)
    const from = this.#at
    const to = from + length
    if (to > this.#bytes.length) throw broken('a header block that ends too soon')
    this.#at = to
    if (!packed) return this.#bytes.toString('latin1', from, to)
    const text = decodeHuffman(this.#bytes, from, to)
    if (text === undefined) throw broken('a header text is not packed as it should be')
    return text
  }
}
