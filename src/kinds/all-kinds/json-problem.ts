/**
 * The error of Go's JSON decoder for bytes that should be an object or array. Undefined if the
 * bytes are valid. Like Go's scanner it reads the text once and keeps no values.
 */
import { goQuote } from '#api/go-syntax.ts'

class Problem extends Error {}

const endOfInput = 'unexpected end of JSON input'
const space = /[ \t\r\n]/

/** `goType` is the decoder's target type, as its messages name it. */
export function jsonProblem(bytes: Buffer, wanted: JsonKind, goType: string): string | undefined {
  const scanner = new Scanner(bytes.toString('latin1'))
  try {
    const kind = scanner.document()
    if (kind === wanted || kind === 'null') return undefined
    return `json: cannot unmarshal ${kind} into Go value of type ${goType}`
  } catch (problem) {
    if (problem instanceof Problem) return problem.message
    throw problem
  }
}

type JsonKind = 'object' | 'array' | 'string' | 'number' | 'bool' | 'null'

/** The nesting limit of Go's decoder. */
const nestingDepthMax = 10000

class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): JsonKind {
    const kind = this.#value()
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#fail('after top-level value')
    return kind
  }

  #peek(): string {
    const ch = this.#text[this.#at]
    if (ch === undefined) throw new Problem(endOfInput)
    return ch
  }

  /** Inside a word or number, Go reports the end of input as a space. */
  #peekInWord(): string {
    return this.#text[this.#at] ?? ' '
  }

  #fail(context: string, ch = this.#peek()): never {
    throw new Problem(`invalid character ${quoteCharacter(ch)} ${context}`)
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && space.test(this.#text[this.#at] as string)) this.#at++
  }

  /** Keeps the nesting in a list instead of recursion, because input can be deeply nested. */
  #value(): JsonKind {
    const nesting: ('object' | 'array')[] = []
    let first: JsonKind | undefined
    for (;;) {
      const kind = this.#enter(nesting)
      first ??= kind
      if (!this.#leave(nesting)) return first
    }
  }

  /** Reads one scalar, or enters objects and arrays until there is one. */
  #enter(nesting: ('object' | 'array')[]): JsonKind {
    let outermost: JsonKind | undefined
    for (;;) {
      this.#skipSpace()
      const ch = this.#peek()
      if (ch !== '{' && ch !== '[') {
        const kind = this.#scalar(ch)
        return outermost ?? kind
      }
      this.#at++
      nesting.push(ch === '{' ? 'object' : 'array')
      if (nesting.length > nestingDepthMax) throw new Problem('exceeded max depth')
      outermost ??= ch === '{' ? 'object' : 'array'
      this.#skipSpace()
      if (ch === '[' && this.#peek() === ']') return outermost
      if (ch === '{') {
        if (this.#peek() === '}') return outermost
        this.#key()
      }
    }
  }

  /** After a value: closes finished objects and arrays. Returns whether another value follows. */
  #leave(nesting: ('object' | 'array')[]): boolean {
    while (nesting.length > 0) {
      this.#skipSpace()
      const inside = nesting.at(-1)
      const ch = this.#peek()
      if (ch === (inside === 'object' ? '}' : ']')) {
        this.#at++
        nesting.pop()
        continue
      }
      if (ch !== ',') {
        this.#fail(inside === 'object' ? 'after object key:value pair' : 'after array element')
      }
      this.#at++
      if (inside === 'object') {
        this.#skipSpace()
        this.#key()
      }
      return true
    }
    return false
  }

  #key(): void {
    if (this.#peek() !== '"') this.#fail('looking for beginning of object key string')
    this.#string()
    this.#skipSpace()
    if (this.#peek() !== ':') this.#fail('after object key')
    this.#at++
  }

  #scalar(ch: string): JsonKind {
    if (ch === '"') {
      this.#string()
      return 'string'
    }
    if (ch === '-' || (ch >= '0' && ch <= '9')) {
      this.#number()
      return 'number'
    }
    if (ch === 't') return this.#literal('true', 'bool')
    if (ch === 'f') return this.#literal('false', 'bool')
    if (ch === 'n') return this.#literal('null', 'null')
    return this.#fail('looking for beginning of value')
  }

  #literal(word: string, kind: JsonKind): JsonKind {
    for (const [i, expected] of [...word].entries()) {
      const ch = this.#peekInWord()
      if (i > 0 && ch !== expected) this.#fail(`in literal ${word} (expecting '${expected}')`, ch)
      this.#at++
    }
    return kind
  }

  #string(): void {
    this.#at++
    for (;;) {
      const ch = this.#peek()
      if (ch < ' ') this.#fail('in string literal')
      this.#at++
      if (ch === '"') return
      if (ch !== '\\') continue
      const escape = this.#peek()
      if (!'"\\/bfnrtu'.includes(escape)) this.#fail('in string escape code')
      this.#at++
      for (let i = 0; escape === 'u' && i < 4; i++) {
        if (!/[0-9a-fA-F]/.test(this.#peek())) this.#fail('in \\u hexadecimal character escape')
        this.#at++
      }
    }
  }

  #number(): void {
    if (this.#peek() === '-') this.#at++
    this.#wantDigit('in numeric literal')
    if (this.#text[this.#at] === '0') this.#at++
    else this.#digits()
    if (this.#text[this.#at] === '.') {
      this.#at++
      this.#wantDigit('after decimal point in numeric literal')
      this.#digits()
    }
    const e = this.#text[this.#at]
    if (e !== 'e' && e !== 'E') return
    this.#at++
    const sign = this.#text[this.#at]
    if (sign === '+' || sign === '-') this.#at++
    this.#wantDigit('in exponent of numeric literal')
    this.#digits()
  }

  #wantDigit(context: string): void {
    const ch = this.#peekInWord()
    if (!isDigit(ch)) this.#fail(context, ch)
  }

  #digits(): void {
    while (isDigit(this.#text[this.#at])) this.#at++
  }
}

const isDigit = (ch: string | undefined): boolean => ch !== undefined && ch >= '0' && ch <= '9'

function quoteCharacter(ch: string): string {
  if (ch === "'") return "'\\''"
  if (ch === '"') return `'"'`
  const quoted = goQuote(ch)
  return `'${quoted.slice(1, -1)}'`
}
