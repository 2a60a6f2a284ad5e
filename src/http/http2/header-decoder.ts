/**
 * Header blocks as clients send them (RFC 7541), and the table each connection builds up while it
 * does. Knows bytes and texts; which names and values make a request is request-head.ts. A block
 * that comes again while the table stays as it is says the same again, and is not read a second
 * time.
 */
import { ConnectionError, errorCode } from './frames.ts'
import { type HeaderField, staticFields } from './header-fields.ts'
import { decodeHuffman } from './huffman.ts'

/** Bytes a client's table may take: what both ends begin with. */
const headerTableBytesMax = 4096
/** What every field costs beside its texts, by the RFC. */
const fieldBytesExtra = 32

/** Blocks that are kept with their fields: of a client that repeats a few requests. */
const keptBlocksMax = 8
/**
 * Longer ones, packed or unpacked, are read each time, since strangers could fill the memory with
 * them.
 */
const keptBytesMax = 2048

const broken = (why: string) => new ConnectionError(errorCode.compression, why)

export class HeaderDecoder<Said> {
  readonly #bytesMax: number
  readonly #understand: (list: readonly string[]) => Said
  /** Newest last; the client counts from the newest. */
  readonly #fields: HeaderField[] = []
  #tableBytes = 0
  #tableBytesMax = headerTableBytesMax
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  /** What blocks say that change no table, by their bytes, until the table changes. */
  readonly #kept = new Map<string, Said>()
  #tableChanged = false
  #unpackedBytes = 0

  /**
   * `understand`: what names and values in turn say. A block that unpacks to more than the limit is
   * refused before it is.
   */
  constructor(bytesMax: number, understand: (list: readonly string[]) => Said) {
    this.#bytesMax = bytesMax
    this.#understand = understand
  }

  decode(block: Buffer): Said {
    if (block.length > keptBytesMax) return this.#understand(this.#unpack(block))
    const bytes = block.toString('latin1')
    const known = this.#kept.get(bytes)
    if (known !== undefined) return known
    this.#tableChanged = false
    const said = this.#understand(this.#unpack(block))
    if (this.#tableChanged || this.#unpackedBytes > keptBytesMax) return said
    if (this.#kept.size === keptBlocksMax) this.#kept.clear()
    this.#kept.set(bytes, said)
    return said
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
    if ((first & 0x80) !== 0) return this.#known(this.#number(7))
    const kept = (first & 0x40) !== 0
    const number = this.#number(kept ? 6 : 4)
    const name = number === 0 ? this.#text() : this.#known(number).name
    const field = { name, value: this.#text() }
    if (kept) this.#keep(field)
    return field
  }

  #known(number: number): HeaderField {
    const field =
      number < staticFields.length
        ? staticFields[number]
        : this.#fields[this.#fields.length - 1 - (number - staticFields.length)]
    if (number === 0 || field === undefined) throw broken('a header field that is not known')
    return field
  }

  #changeTable(): void {
    this.#tableChanged = true
    this.#kept.clear()
  }

  #keep(field: HeaderField): void {
    this.#changeTable()
    this.#fields.push(field)
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
      const { name, value } = this.#fields[gone++] as HeaderField
      this.#tableBytes -= name.length + value.length + fieldBytesExtra
    }
    if (gone > 0) this.#fields.splice(0, gone)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw broken('a header block that ends too soon')
    return byte
  }

  /** A number that begins in the last bits of a byte. */
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
