/**
 * Splits an expression into tokens. The lexer prefers the longest token, as ANTLR's does. It
 * reports text that begins no token with the character at which every attempt failed: `a | b` gives
 * an error at '| '.
 */
import type { CelError, Source } from '#cel/source.ts'

/** In the order of cel-go's grammar: errors list expected tokens in this order. */
export const tokenNames = [
  "'=='",
  "'!='",
  "'in'",
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'&&'",
  "'||'",
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "':'",
  "'+'",
  "'*'",
  "'/'",
  "'%'",
  "'true'",
  "'false'",
  "'null'",
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
] as const

const byName = new Map<string, number>(tokenNames.map((name, at) => [name, at]))
byName.set('EOF', -1)

/** The type of a token as the grammar writes it: `(`, `in`, `IDENTIFIER`. */
export const tokenType = (name: string): number => byName.get(name) ?? byName.get(`'${name}'`)!

export const endOfInput = -1

export interface Token {
  readonly type: number
  readonly text: string
  /** Offset in code points. */
  readonly start: number
  /** White space and comments before the token. */
  readonly before: string
  /** True for a token that the parser inserted to recover from an error. */
  readonly missing?: boolean
}

const space = /[\t \r\n\f]/
const letter = /[A-Za-z_]/
const wordPart = /[A-Za-z0-9_]/
const digit = /[0-9]/
const hexDigit = /[0-9A-Fa-f]/
const octalDigit = /[0-7]/
const escapedIdentifierPart = /[A-Za-z0-9_.\-/ ]/

const keyword = new Map(
  ['in', 'true', 'false', 'null'].map((word) => [word, tokenType(word)] as const),
)
const punctuation = new Map(
  ['[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?', ':', '+', '*', '/', '%', '<', '>'].map(
    (word) => [word, tokenType(word)] as const,
  ),
)
const pairs = new Map(
  ['==', '!=', '<=', '>=', '&&', '||'].map((word) => [word, tokenType(word)] as const),
)

const floatType = tokenType('NUM_FLOAT')
const intType = tokenType('NUM_INT')
const uintType = tokenType('NUM_UINT')
const stringType = tokenType('STRING')
const bytesType = tokenType('BYTES')
const identifierType = tokenType('IDENTIFIER')
const escapedIdentifierType = tokenType('ESC_IDENTIFIER')

/** A token of `type` up to `end`, or the position at which the attempt failed. */
type Attempt = { readonly type: number; readonly end: number } | { readonly failedAt: number }

class Lexer {
  readonly #characters: string | readonly string[]
  readonly #length: number

  constructor(source: Source) {
    this.#characters = source.characters
    this.#length = source.length
  }

  #is(at: number, pattern: RegExp): boolean {
    return at < this.#length && pattern.test(this.#characters[at]!)
  }

  #while(at: number, pattern: RegExp): number {
    while (this.#is(at, pattern)) at++
    return at
  }

  /** The end of white space and comments from `at`. */
  skip(at: number): number {
    for (;;) {
      const next = this.#while(at, space)
      if (this.#characters[next] !== '/' || this.#characters[next + 1] !== '/') return next
      at = next
      while (at < this.#length && this.#characters[at] !== '\n') at++
    }
  }

  next(at: number): Attempt {
    const first = this.#characters[at]!
    if (digit.test(first) || (first === '.' && this.#is(at + 1, digit))) return this.#number(at)
    const text = this.#text(at)
    if (text !== undefined) return text
    if (letter.test(first)) {
      const end = this.#while(at + 1, wordPart)
      const word = Array.from(this.#characters.slice(at, end)).join('')
      return { type: keyword.get(word) ?? identifierType, end }
    }
    if (first === '`') return this.#escapedIdentifier(at)
    const pair = pairs.get(first + (this.#characters[at + 1] ?? ''))
    if (pair !== undefined) return { type: pair, end: at + 2 }
    const single = punctuation.get(first)
    if (single !== undefined) return { type: single, end: at + 1 }
    return { failedAt: first === '=' || first === '&' || first === '|' ? at + 1 : at }
  }

  #number(at: number): Attempt {
    const isUnsigned = (end: number) => this.#is(end, /[uU]/)
    if (this.#characters[at] === '0' && this.#characters[at + 1] === 'x') {
      const end = this.#while(at + 2, hexDigit)
      if (end > at + 2)
        return isUnsigned(end) ? { type: uintType, end: end + 1 } : { type: intType, end }
    }
    const whole = this.#while(at, digit)
    let end = whole
    if (this.#characters[end] === '.' && this.#is(end + 1, digit)) end = this.#while(end + 1, digit)
    if (this.#is(end, /[eE]/)) {
      const sign = this.#is(end + 1, /[+-]/) ? 1 : 0
      const power = this.#while(end + 1 + sign, digit)
      if (power > end + 1 + sign) end = power
    }
    if (end > whole) return { type: floatType, end }
    return isUnsigned(whole) ? { type: uintType, end: whole + 1 } : { type: intType, end: whole }
  }

  #escapedIdentifier(at: number): Attempt {
    const end = this.#while(at + 1, escapedIdentifierPart)
    return end > at + 1 && this.#characters[end] === '`'
      ? { type: escapedIdentifierType, end: end + 1 }
      : { failedAt: end }
  }

  /**
   * A string or bytes literal, with its prefixes; undefined if there is no quote or, with a prefix,
   * no literal.
   */
  #text(at: number): Attempt | undefined {
    let quoteAt = at
    const isBytes = this.#is(quoteAt, /[bB]/)
    if (isBytes) quoteAt++
    const isRaw = this.#is(quoteAt, /[rR]/)
    if (isRaw) quoteAt++
    const quote = this.#characters[quoteAt]
    if (quote !== '"' && quote !== "'") return undefined
    const type = isBytes ? bytesType : stringType
    const isTriple =
      this.#characters[quoteAt + 1] === quote && this.#characters[quoteAt + 2] === quote
    if (isTriple) {
      const end = this.#literalEnd(quoteAt + 3, quote, 3, isRaw)
      // Without an end, the first two quotes are an empty literal.
      return 'end' in end ? { type, end: end.end } : { type, end: quoteAt + 2 }
    }
    const end = this.#literalEnd(quoteAt + 1, quote, 1, isRaw)
    if ('end' in end) return { type, end: end.end }
    // A prefix alone is an identifier.
    return quoteAt > at ? undefined : { failedAt: end.failedAt }
  }

  #literalEnd(
    at: number,
    quote: string,
    quotes: number,
    isRaw: boolean,
  ): { end: number } | { failedAt: number } {
    while (at < this.#length) {
      const character = this.#characters[at]!
      if (
        character === quote &&
        (quotes === 1 || (this.#characters[at + 1] === quote && this.#characters[at + 2] === quote))
      )
        return { end: at + quotes }
      if (quotes === 1 && (character === '\n' || character === '\r')) return { failedAt: at }
      if (character === '\\' && !isRaw) {
        const escape = this.#escape(at)
        if ('failedAt' in escape) return escape
        at = escape.end
      } else at++
    }
    return { failedAt: this.#length }
  }

  #escape(at: number): { end: number } | { failedAt: number } {
    const character = this.#characters[at + 1]
    if (character === undefined) return { failedAt: this.#length }
    if ('abfnrtv"\'\\?`'.includes(character)) return { end: at + 2 }
    let count = 0
    let pattern = hexDigit
    if (character === 'x' || character === 'X') count = 2
    else if (character === 'u') count = 4
    else if (character === 'U') count = 8
    else if (/[0-3]/.test(character)) {
      count = 2
      pattern = octalDigit
    } else return { failedAt: at + 1 }
    for (let step = 0; step < count; step++)
      if (!this.#is(at + 2 + step, pattern)) return { failedAt: at + 2 + step }
    return { end: at + 2 + count }
  }
}

/** Quotes text of the input for an error. */
export const quoted = (text: string): string =>
  `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`

/**
 * Tokens as the parser reads them: it may stop before the end, and errors behind that place are not
 * reported.
 */
export class TokenStream {
  readonly #source: Source
  readonly #lexer: Lexer
  readonly #report: (error: CelError) => void
  readonly #tokens: Token[] = []
  #at = 0
  #before = ''

  constructor(source: Source, report: (error: CelError) => void) {
    this.#source = source
    this.#lexer = new Lexer(source)
    this.#report = report
    this.#skip(0)
  }

  /** The token with an index; behind the end, the end. */
  get(index: number): Token {
    while (index >= this.#tokens.length && this.#tokens.at(-1)?.type !== endOfInput)
      this.#tokens.push(this.#next())
    return this.#tokens[Math.min(index, this.#tokens.length - 1)]!
  }

  #skip(from: number): void {
    this.#at = this.#lexer.skip(from)
    this.#before += this.#source.slice(from, this.#at)
  }

  #next(): Token {
    while (this.#at < this.#source.length) {
      const start = this.#at
      const attempt = this.#lexer.next(start)
      if ('end' in attempt) {
        const text = this.#source.slice(start, attempt.end)
        const token = { type: attempt.type, text, start, before: this.#before }
        this.#before = ''
        this.#skip(attempt.end)
        return token
      }
      const end = Math.min(attempt.failedAt + 1, this.#source.length)
      const text = this.#source.slice(start, end)
      this.#report({
        position: start,
        message: `Syntax error: token recognition error at: '${text}'`,
      })
      this.#skip(end)
    }
    return { type: endOfInput, text: '<EOF>', start: this.#source.length, before: this.#before }
  }
}
