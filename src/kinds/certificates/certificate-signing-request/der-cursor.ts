/**
 * Reads DER values in sequence, like Go's certificate parser. If a value is missing or malformed,
 * parsing ends with the error text that the caller passed. Values are not decoded further than
 * necessary for that.
 */
import { oidProblem, headerOfCompleteValue } from './go-asn1-header.ts'

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
} as const

/** The certificate cannot be parsed. The message is Go's. */
export class Malformed extends Error {}
export const fail = (words: string): never => {
  throw new Malformed(`x509: ${words}`)
}

/** A position in bytes, from which values are read in sequence. */
export class Cursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  get tag(): number | undefined {
    return this.#bytes[this.#at]
  }

  /**
   * Reads the next value, with a given tag or any; throws an error with the given text if there is
   * none.
   */
  take(tag: number | undefined, words: string): { contents: Buffer; whole: Buffer; tag: number } {
    const header = headerOfCompleteValue(this.#bytes, this.#at)
    const found = this.#bytes[this.#at] as number
    if (header === undefined || (tag !== undefined && found !== tag)) return fail(words)
    const end = header.from + header.length
    const whole = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return { contents: this.#bytes.subarray(header.from, end), whole, tag: found }
  }

  into(tag: number, words: string): Cursor {
    return new Cursor(this.take(tag, words).contents)
  }

  takeOid(words: string): string {
    const { contents } = this.take(tags.oid, words)
    if (oidProblem(contents) !== undefined) fail(words)
    return contents.toString('hex')
  }

  takeInteger(words: string): Buffer {
    const { contents } = this.take(tags.integer, words)
    const [first = 0, second = 0] = contents
    const padded = (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)
    if (contents.length === 0 || (contents.length > 1 && padded)) fail(words)
    return contents
  }

  takeBoolean(words: string): boolean {
    const { contents } = this.take(tags.boolean, words)
    if (contents.length !== 1 || (contents[0] !== 0 && contents[0] !== 0xff)) fail(words)
    return contents[0] === 0xff
  }

  /** An integer of this tag that is not negative and fits in 64 bits. */
  takeCount(words: string, tag: number = tags.integer): void {
    const { contents } = this.take(tag, words)
    const [first = 0xff, second = 0] = contents
    const isPadded = contents.length > 1 && first === 0 && second < 0x80
    if (first >= 0x80 || isPadded || contents.length > 8) fail(words)
  }

  takeBits(words: string): Buffer {
    const { contents } = this.take(tags.bits, words)
    const unused = contents[0] ?? 8
    const last = contents.at(-1) as number
    if (unused > 7 || (contents.length === 1 && unused > 0) || last & ((1 << unused) - 1)) {
      fail(words)
    }
    return contents.subarray(1)
  }
}
