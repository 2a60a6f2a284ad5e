/**
 * Writes YAML byte for byte like the library that Kubernetes uses. Keys are in its order, lists are
 * not indented below their key, and long text is folded at the first space after 80 columns.
 */
import type { Json } from '#api/object-meta.ts'
import { keyOrder } from './yaml-key-order.ts'
import { isBreak, isPrintable, isSimpleKey, lineOrBreak, styleOf } from './yaml-style.ts'

const indentWidth = 2
/** A line is folded at the first space after this column. */
const foldColumn = 80

export function writeYaml(value: Json): string {
  const writer = new Writer()
  writer.node(value, { isKey: false, inMapping: false })
  return writer.end()
}

/**
 * Writes a map with a long list in pieces: the text before the list, each item, the text after it.
 * Joined, they equal the result of `writeYaml`.
 */
export class LongList {
  readonly #writer = new Writer()
  readonly #map: { readonly [key: string]: Json }
  readonly #key: string

  /** `key` is the key of the list, whose items are passed one by one. */
  constructor(map: { readonly [key: string]: Json }, key: string) {
    this.#map = map
    this.#key = key
  }

  start(): string {
    this.#writer.open()
    for (const key of this.#keys((order) => order < 0)) this.#writer.member(key, this.#map[key])
    this.#writer.key(this.#key)
    return this.#writer.take()
  }

  item(value: Json): string {
    this.#writer.item(value)
    return this.#writer.take()
  }

  end(): string {
    for (const key of this.#keys((order) => order > 0)) this.#writer.member(key, this.#map[key])
    return this.#writer.end()
  }

  #keys(isMeant: (order: number) => boolean): string[] {
    const meant = Object.keys(this.#map).filter((key) => isMeant(keyOrder(key, this.#key)))
    return meant.sort(keyOrder)
  }
}

interface Place {
  readonly isKey: boolean
  readonly inMapping: boolean
}

class Writer {
  #out = ''
  #column = 0
  #indent = -indentWidth
  /** Whether the line so far contains only spaces and indicators (`-`, `?`, `:`). */
  #atIndention = true
  #afterBlank = true

  end(): string {
    this.#newLine()
    return this.take()
  }

  /** Returns and clears the text written so far. */
  take(): string {
    const text = this.#out
    this.#out = ''
    return text
  }

  /** Begins a map whose members are written one by one. */
  open(): void {
    this.#indent += indentWidth
  }

  node(value: Json, place: Place): void {
    if (typeof value === 'string') this.#scalar(value, place.isKey)
    else if (typeof value !== 'object' || value === null) this.#plain(scalarText(value), false)
    else if (Array.isArray(value)) {
      if (value.length === 0) this.#sign('[]')
      else this.#list(value, place.inMapping && !this.#atIndention)
    } else {
      const keys = Object.keys(value)
      if (keys.length === 0) this.#sign('{}')
      else this.#map(value, keys.sort(keyOrder))
    }
  }

  #list(items: readonly Json[], indentless: boolean): void {
    const indent = this.#indent
    if (!indentless) this.#indent += indentWidth
    for (const item of items) this.item(item)
    this.#indent = indent
  }

  item(item: Json): void {
    this.#newLine()
    this.#mark('-')
    this.node(item, { isKey: false, inMapping: false })
  }

  #map(map: { readonly [key: string]: Json }, keys: readonly string[]): void {
    const indent = this.#indent
    this.open()
    for (const key of keys) this.member(key, map[key] as Json)
    this.#indent = indent
  }

  member(key: string, value: Json): void {
    this.key(key)
    this.node(value, { isKey: false, inMapping: true })
  }

  key(key: string): void {
    this.#newLine()
    if (isSimpleKey(key)) {
      this.node(key, { isKey: true, inMapping: true })
      this.#put(':')
      this.#afterBlank = false
      this.#atIndention = false
    } else {
      this.#mark('?')
      this.node(key, { isKey: false, inMapping: true })
      this.#newLine()
      this.#mark(':')
    }
  }

  #scalar(text: string, isKey: boolean): void {
    this.#indent += indentWidth
    const style = styleOf(text, isKey)
    if (style === 'plain') this.#plain(text, !isKey)
    else if (style === 'single') this.#single(text, !isKey)
    else if (style === 'double') this.#double(text, !isKey)
    else this.#literal(text)
    this.#indent -= indentWidth
  }

  #plain(text: string, mayFold: boolean): void {
    if (!this.#afterBlank) this.#put(' ')
    // Most texts are short enough not to be folded.
    if (this.#column + text.length <= foldColumn) this.#put(text)
    else this.#folded(text, mayFold, false)
    this.#afterBlank = false
    this.#atIndention = false
  }

  #single(text: string, mayFold: boolean): void {
    this.#sign("'")
    this.#folded(text, mayFold, true)
    this.#put("'")
    this.#afterBlank = false
    this.#atIndention = false
  }

  #folded(text: string, mayFold: boolean, quoted: boolean): void {
    let afterSpace = false
    let afterBreak = false
    for (let at = 0; at < text.length; ) {
      const char = String.fromCodePoint(text.codePointAt(at) as number)
      if (char === ' ') {
        const folds = mayFold && !afterSpace && this.#column > foldColumn && text[at + 1] !== ' '
        if (folds && (!quoted || (at > 0 && at < text.length - 1))) this.#newLine()
        else this.#put(' ')
        afterSpace = true
      } else if (isBreak(char)) {
        this.#break(char)
        afterBreak = true
      } else {
        if (afterBreak) this.#newLine()
        this.#put(quoted && char === "'" ? "''" : char)
        this.#atIndention = false
        afterSpace = false
        afterBreak = false
      }
      at += char.length
    }
  }

  #double(text: string, mayFold: boolean): void {
    this.#sign('"')
    const allEscaped = text.startsWith('\ufeff')
    let afterSpace = false
    for (let at = 0; at < text.length; ) {
      const char = String.fromCodePoint(text.codePointAt(at) as number)
      const isSpace = char === ' ' && !allEscaped
      if (isSpace && mayFold && !afterSpace && this.#column > foldColumn && isWithin(text, at)) {
        this.#newLine()
        if (text[at + 1] === ' ') this.#put('\\')
      } else this.#put(allEscaped || needsEscape(char) ? escaped(char) : char)
      afterSpace = isSpace
      at += char.length
    }
    this.#put('"')
    this.#afterBlank = false
    this.#atIndention = false
  }

  #literal(text: string): void {
    this.#sign(`|${literalHints(text)}`)
    this.#break('\n')
    this.#afterBlank = true
    let afterBreak = true
    for (const part of text.match(lineOrBreak) ?? []) {
      if (isBreak(part)) {
        this.#break(part)
        afterBreak = true
      } else {
        if (afterBreak) this.#newLine()
        this.#put(part)
        this.#atIndention = false
        afterBreak = false
      }
    }
  }

  /** Moves to the current indentation, on a new line unless this line is still empty. */
  #newLine(): void {
    const indent = Math.max(this.#indent, 0)
    const isFresh =
      this.#atIndention && (this.#column < indent || (this.#column === indent && this.#afterBlank))
    if (!isFresh) this.#break('\n')
    if (this.#column < indent) this.#put(' '.repeat(indent - this.#column))
    this.#afterBlank = true
    this.#atIndention = true
  }

  /** Writes an indicator after which another may follow on the same line. */
  #mark(sign: string): void {
    const atIndention = this.#atIndention
    this.#sign(sign)
    this.#atIndention = atIndention
  }

  #sign(sign: string): void {
    this.#put(this.#afterBlank ? sign : ` ${sign}`)
    this.#afterBlank = false
    this.#atIndention = false
  }

  #break(char: string): void {
    this.#out += char
    this.#column = 0
    this.#atIndention = true
  }

  /** A column is a Unicode character, which may be two UTF-16 units. */
  #put(text: string): void {
    this.#out += text
    this.#column += text.length
    for (let at = 0; at < text.length; at++) {
      if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) this.#column--
    }
  }
}

const isWithin = (text: string, at: number): boolean => at > 0 && at < text.length - 1

const needsEscape = (char: string): boolean =>
  !isPrintable(char) || isBreak(char) || char === '"' || char === '\\'

const escapes: Readonly<Record<number, string>> = {
  0: '0',
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  27: 'e',
  34: '"',
  92: '\\',
  133: 'N',
  160: '_',
  8232: 'L',
  8233: 'P',
}

function escaped(char: string): string {
  const code = char.codePointAt(0) as number
  const known = escapes[code]
  if (known !== undefined) return `\\${known}`
  const hex = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

/**
 * The header of a literal block: its indentation if the first line starts with a space, and how
 * trailing line breaks are kept.
 */
function literalHints(text: string): string {
  const first = text[0] as string
  const indent = first === ' ' || isBreak(first) ? String(indentWidth) : ''
  if (!isBreak(text.at(-1) as string)) return `${indent}-`
  return text.length === 1 || isBreak(text.at(-2) as string) ? `${indent}+` : indent
}

/**
 * Formats numbers like Go: 64-bit integers in digits, others with an exponent from one million on.
 */
function scalarText(value: null | boolean | number | bigint): string {
  if (typeof value !== 'number') return String(value)
  const text = JSON.stringify(value)
  if (/^-?[0-9]+$/.test(text) && value >= -(2 ** 63) && value < 2 ** 64) return text
  const [, sign, digits, exponentText] = /^(-?)(.*)e(.*)$/.exec(value.toExponential()) as string[]
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return text
  const width = String(Math.abs(exponent)).padStart(2, '0')
  return `${sign}${digits}e${exponent < 0 ? '-' : '+'}${width}`
}
