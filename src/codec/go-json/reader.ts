/**
 * Imitates the JSON reader of kube-apiserver's Go library where its errors are visible: the
 * position, the message, and how it continues. It keeps the first fault with the bytes around it.
 * Then it reads on, because the field names in the message depend on how far reading gets. It is
 * slow and used only for bodies with faults or duplicates.
 */
import { excerpt } from './excerpt.ts'

export const char = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  n: 0x6e,
  open: 0x7b,
  close: 0x7d,
} as const

const zero = 0x30
const nine = 0x39
const blanks = new Set([0x20, 0x0a, 0x09, 0x0d])
const endsOfNumbers = new Set([char.comma, char.closeList, char.close, ...blanks])
const wordsAfter: ReadonlyMap<number, string> = new Map([
  [char.n, 'ull'],
  [0x74, 'rue'],
  [0x66, 'alse'],
])

export const isDigit = (byte: number): boolean => byte >= zero && byte <= nine

export class GoReader {
  readonly #bytes: Buffer
  /** The index of the next byte. */
  head = 0
  /** The end was reached; a later fault is still reported. */
  #ended = false
  fault: string | undefined
  /** Whether numbers in skipped values are checked. */
  #wanted = false

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get tail(): number {
    return this.#bytes.length
  }

  at(index: number): number {
    return this.#bytes[index] ?? 0
  }

  /** Only the first fault is reported, with the text 10 and 50 bytes around its position. */
  report(operation: string, why: string): void {
    if (this.fault !== undefined) return
    const from = Math.max(this.head - 10, 0)
    const near = excerpt(this.#bytes, from, this.head + 10)
    const around = excerpt(this.#bytes, this.head - 50, this.head + 50)
    this.fault = `${operation}: ${why}, error found in #${this.head - from} byte of ...|${near}|..., bigger context ...|${around}|...`
  }

  reportFound(operation: string, expected: string, found: number): void {
    this.report(operation, `${expected}${excerpt(Buffer.from([found]), 0, 1)}`)
  }

  /** Prefixes the fault with the name of the part that contains it. */
  within(name: string): void {
    if (this.fault !== undefined) this.fault = name + this.fault
  }

  #end(): void {
    if (this.fault !== undefined || this.#ended) return
    this.head = this.tail
    this.#ended = true
  }

  /** The next byte that is not whitespace; 0 at the end. */
  next(): number {
    for (let i = this.head; i < this.tail; i++) {
      const byte = this.#bytes[i] as number
      if (blanks.has(byte)) continue
      this.head = i + 1
      return byte
    }
    this.#end()
    return 0
  }

  #byte(): number {
    if (this.head < this.tail) return this.#bytes[this.head++] as number
    this.#end()
    return 0
  }

  /** After a fault the position does not move back. */
  unread(): void {
    if (this.fault === undefined && !this.#ended) this.head--
  }

  peek(): number {
    const byte = this.next()
    this.unread()
    return byte
  }

  isNull(): boolean {
    if (this.next() === char.n) {
      this.word(char.n)
      return true
    }
    this.unread()
    return false
  }

  /** Reads the rest of `null`, `true` or `false` after its first letter. */
  word(first: number): void {
    const rest = wordsAfter.get(first) as string
    for (const letter of Buffer.from(rest)) {
      if (this.#byte() === letter) continue
      this.report(rest.length === 3 ? 'skipThreeBytes' : 'skipFourBytes', `expect ${rest}`)
      return
    }
  }

  string(): string {
    const first = this.next()
    if (first === char.quote) return this.restOfString()
    if (first === char.n) this.word(first)
    else this.reportFound('ReadString', 'expects " or n, but found ', first)
    return ''
  }

  /**
   * Reads from after the opening quote to the closing quote. Reading of escapes stops at the first
   * fault; plain text is read to its end.
   */
  restOfString(): string {
    for (let i = this.head; i < this.tail; i++) {
      const byte = this.#bytes[i] as number
      if (byte === char.quote) {
        const text = this.#bytes.toString('utf8', this.head, i)
        this.head = i + 1
        return text
      }
      if (byte === char.backslash) break
      if (byte < 0x20) {
        this.report('ReadString', `invalid control character found: ${byte}`)
        return ''
      }
    }
    return this.#escapedString()
  }

  #escapedString(): string {
    const start = this.head
    while (this.fault === undefined && !this.#ended) {
      const byte = this.#byte()
      if (byte === char.quote) return parsedText(this.#bytes.toString('utf8', start, this.head))
      if (byte === char.backslash) this.#byte()
    }
    this.report('readStringSlowPath', 'unexpected end of input')
    return ''
  }

  /**
   * Reads an unsigned integer that starts with `first`. Like Go, it wraps in cases where Go does
   * not detect the overflow.
   */
  unsigned(first: number, bits: 32 | 64): bigint {
    if (first === zero) {
      this.#requireInteger()
      return 0n
    }
    if (!isDigit(first)) {
      this.report(`readUint${bits}`, 'unexpected character: \ufffd')
      return 0n
    }
    let value = BigInt(first - zero)
    // Go reads eight digits at once, without an overflow check, if enough bytes follow.
    if (this.tail - this.head > 10) {
      for (let i = 0; i < 7 && isDigit(this.at(this.head)); i++) {
        value = value * 10n + BigInt(this.at(this.head++) - zero)
      }
    }
    const safe = ((1n << BigInt(bits)) - 1n) / 10n - 1n
    for (let i = this.head; i < this.tail; i++) {
      if (!isDigit(this.at(i))) {
        this.head = i
        this.#requireInteger()
        return value
      }
      const wrapped = BigInt.asUintN(bits, value * 10n + BigInt(this.at(i) - zero))
      if (value > safe && wrapped < value) {
        this.report(`readUint${bits}`, 'overflow')
        return 0n
      }
      value = wrapped
    }
    this.#end()
    return value
  }

  signed(bits: 32 | 64): bigint {
    const first = this.next()
    const negative = first === char.minus
    const value = this.unsigned(negative ? this.#byte() : first, bits)
    const max = (1n << BigInt(bits - 1)) - (negative ? 0n : 1n)
    if (value > max) {
      this.report(`ReadInt${bits}`, `overflow: ${value}`)
      return 0n
    }
    return negative ? -value : value
  }

  #requireInteger(): void {
    if (this.at(this.head) !== char.dot) return
    this.report('assertInteger', 'can not decode float as int')
  }

  float(): number {
    const negative = this.next() === char.minus
    if (!negative) this.unread()
    const first = this.at(this.head)
    if (this.head < this.tail && endsOfNumbers.has(first)) {
      this.report('readFloat64', 'empty number')
      return 0
    }
    const text = this.#numberText()
    if (this.fault !== undefined) return 0
    const value = Number(text)
    if (Number.isFinite(value)) return negative ? -value : value
    this.fault = `strconv.ParseFloat: parsing ${JSON.stringify(text)}: value out of range`
    return 0
  }

  #numberText(): string {
    const start = this.head
    let i = start
    while (i < this.tail && /[-+.eE0-9]/.test(String.fromCharCode(this.at(i)))) i++
    if (i < this.tail) this.head = i
    else this.#end()
    if (i === start) this.report('readNumberAsString', 'invalid number')
    return this.#bytes.toString('latin1', start, i)
  }

  boolean(): boolean {
    const first = this.next()
    if (first === 0x74 || first === 0x66) this.word(first)
    else this.reportFound('ReadBool', 'expect t or f, but found ', first)
    return first === 0x74
  }

  /** Skips one value and returns its text. */
  skipped(): string {
    const start = this.head
    this.skip()
    return this.#bytes.toString('utf8', start, this.head)
  }

  /** Returns the text of one value; a number that a double cannot represent is a fault. */
  untyped(): string {
    this.#wanted = true
    const text = this.skipped()
    this.#wanted = false
    return text
  }

  skip(): void {
    const first = this.next()
    if (first === char.quote) this.#skipString()
    else if (wordsAfter.has(first)) this.word(first)
    else if (first === zero) {
      this.unread()
      this.float()
    } else if (first === char.minus || isDigit(first)) this.#skipNumber()
    else if (first === char.openList) this.#skipList()
    else if (first === char.open) this.#skipObject()
    else this.report('Skip', `do not know how to skip: ${first}`)
  }

  #skipString(): void {
    for (let i = this.head; i < this.tail; i++) {
      if (this.at(i) === char.quote) {
        this.head = i + 1
        return
      }
      if (this.at(i) === char.backslash) break
    }
    this.unread()
    this.string()
  }

  #skipNumber(): void {
    const start = this.head - 1
    this.#passNumber()
    if (!this.#wanted || this.fault !== undefined) return
    if (Number.isFinite(Number(this.#bytes.toString('latin1', start, this.head)))) return
    this.report('readNumberAsString', 'invalid number')
  }

  #passNumber(): void {
    for (let i = this.head; i < this.tail; i++) {
      const byte = this.at(i)
      if (isDigit(byte) || byte === char.dot) continue
      if (!endsOfNumbers.has(byte) || i === this.head) break
      this.head = i
      return
    }
    this.unread()
    if (this.fault !== undefined) return
    if (this.at(this.head) === char.minus) this.head++
    this.#numberText()
  }

  #skipList(): void {
    this.unread()
    const first = this.next()
    if (first !== char.openList) {
      if (first === char.n) this.word(first)
      else this.reportFound('ReadArrayCB', 'expect [ or n, but found ', first)
      return
    }
    if (this.next() === char.closeList) return
    this.unread()
    let after: number
    do {
      this.skip()
      after = this.next()
    } while (after === char.comma)
    if (after === char.closeList) return
    this.reportFound('ReadArrayCB', 'expect ] in the end, but found ', after)
  }

  #skipObject(): void {
    this.unread()
    const first = this.next()
    if (first !== char.open) {
      if (first === char.n) this.word(first)
      else this.reportFound('ReadObjectCB', 'expect { or n, but found ', first)
      return
    }
    const second = this.next()
    if (second === char.close) return
    if (second !== char.quote) {
      this.reportFound('ReadObjectCB', 'expect " after {, but found ', second)
      return
    }
    this.unread()
    let after: number
    do {
      this.string()
      this.colon('ReadObject')
      this.skip()
      after = this.next()
    } while (after === char.comma)
    if (after !== char.close) this.report('ReadObjectCB', 'object not ended with }')
  }

  /** Whether a colon follows; if not, the caller decides whether to continue. */
  colon(operation: string, expected = 'expect : after object field, but found '): boolean {
    const found = this.next()
    if (found === char.colon) return true
    this.reportFound(operation, expected, found)
    return false
  }
}

/** Parses the text as JSON; after a fault the text may be truncated, and its value is not used. */
function parsedText(rest: string): string {
  try {
    return JSON.parse(`"${rest}`)
  } catch {
    return ''
  }
}
