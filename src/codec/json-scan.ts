/**
 * Scans JSON text for what JSON.parse does not report: Go's error messages and duplicate keys. It
 * is slower than JSON.parse and creates no values.
 */
import { goQuote } from '#api/go-syntax.ts'

/** An open container: an object with the keys seen so far, or a list. */
interface Frame {
  readonly keys: Set<string> | undefined
  /** The last key, or the index of the current item. */
  at: string | number
  /** The path of the container, stored because building it for each key would be slow. */
  readonly path: string
}

type Expecting = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'after value'

export interface Scan {
  /** Go's message for the first fault; undefined for valid JSON. */
  readonly fault: string | undefined
}

/** Called for each key; `again` means that the object already had it. */
export type OnKey = (path: string, again: boolean) => void

class Fault extends Error {}

const endOfInput = 'unexpected end of JSON input'
const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }
const numberShape = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y

/** Formats a byte like Go's messages. */
function quoteByte(byte: number): string {
  const char = String.fromCharCode(byte)
  if (char === "'") return "'\\''"
  if (char === '"') return `'"'`
  return `'${goQuote(char).slice(1, -1)}'`
}

class Scanner {
  readonly #text: string
  readonly #depthMax: number
  readonly #onKey: OnKey | undefined
  /** Whether each character of the text is one byte. */
  readonly #ofBytes: boolean
  readonly #frames: Frame[] = []
  #at = 0
  #expecting: Expecting = 'value'

  constructor(text: string, depthMax: number, onKey: OnKey | undefined, ofBytes: boolean) {
    this.#text = text
    this.#depthMax = depthMax
    this.#onKey = onKey
    this.#ofBytes = ofBytes
  }

  run(): void {
    for (;;) {
      while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at++
      if (this.#at >= this.#text.length) {
        if (this.#expecting === 'after value' && this.#frames.length === 0) return
        throw new Fault(endOfInput)
      }
      this.#step(this.#text[this.#at])
    }
  }

  /** At the end of the text, Go reports a space. */
  #fail(why: string, at = this.#at): never {
    const code = this.#text.codePointAt(at) ?? 0x20
    const byte = this.#ofBytes ? code : (Buffer.from(String.fromCodePoint(code))[0] as number)
    throw new Fault(`invalid character ${quoteByte(byte)} ${why}`)
  }

  #step(char: string): void {
    const expecting = this.#expecting
    if (expecting === 'after value') this.#afterValue(char)
    else if (expecting === 'colon') {
      if (char !== ':') this.#fail('after object key')
      this.#at++
      this.#expecting = 'value'
    } else if (expecting === 'key' || expecting === 'key or end') {
      if (char === '}' && expecting === 'key or end') this.#close()
      else this.#key(char)
    } else if (char === ']' && expecting === 'value or end') this.#close()
    else this.#value(char)
  }

  #afterValue(char: string): void {
    const frame = this.#frames.at(-1)
    if (frame === undefined) this.#fail('after top-level value')
    const inObject = frame.keys !== undefined
    if (char === ',') {
      this.#at++
      if (typeof frame.at === 'number') frame.at++
      this.#expecting = inObject ? 'key' : 'value'
    } else if (char === (inObject ? '}' : ']')) this.#close()
    else this.#fail(inObject ? 'after object key:value pair' : 'after array element')
  }

  #close(): void {
    this.#frames.pop()
    this.#at++
    this.#expecting = 'after value'
  }

  #open(keys: Frame['keys'], at: Frame['at'], expecting: Expecting): void {
    if (this.#frames.length >= this.#depthMax) this.#fail('exceeded max depth')
    this.#frames.push({ keys, at, path: this.#path() })
    this.#at++
    this.#expecting = expecting
  }

  #key(char: string): void {
    if (char !== '"') this.#fail('looking for beginning of object key string')
    const key = this.#string()
    const frame = this.#frames.at(-1) as Frame
    frame.at = key
    const again = frame.keys?.has(key) === true
    this.#onKey?.(this.#path(), again)
    frame.keys?.add(key)
    this.#expecting = 'colon'
  }

  #path(): string {
    const frame = this.#frames.at(-1)
    if (frame === undefined) return ''
    const { at, path } = frame
    if (typeof at === 'number') return `${path}[${at}]`
    return path === '' ? at : `${path}.${at}`
  }

  #value(char: string): void {
    if (char === '{') this.#open(new Set(), '', 'key or end')
    else if (char === '[') this.#open(undefined, 0, 'value or end')
    else {
      if (char === '"') this.#string()
      else if (literals[char] !== undefined) this.#literal(literals[char])
      else if (char === '-' || (char >= '0' && char <= '9')) this.#number()
      else this.#fail('looking for beginning of value')
      this.#expecting = 'after value'
    }
  }

  #literal(word: string): void {
    for (let i = 1; i < word.length; i++) {
      if (this.#text[this.#at + i] !== word[i]) {
        this.#fail(`in literal ${word} (expecting '${word[i]}')`, this.#at + i)
      }
    }
    this.#at += word.length
  }

  #number(): void {
    numberShape.lastIndex = this.#at
    const match = numberShape.exec(this.#text)
    if (match === null) this.#fail('in numeric literal', this.#at + 1)
    const end = this.#at + match[0].length
    const next = this.#text[end]
    if (next === '.' && match[2] === undefined && match[3] === undefined) {
      this.#fail('after decimal point in numeric literal', end + 1)
    }
    if ((next === 'e' || next === 'E') && match[3] === undefined) {
      const sign = this.#text[end + 1] === '+' || this.#text[end + 1] === '-' ? 1 : 0
      this.#fail('in exponent of numeric literal', end + 1 + sign)
    }
    this.#at = end
  }

  /** Reads a string from its opening quote and returns its value. */
  #string(): string {
    const start = this.#at
    let at = start + 1
    for (;;) {
      const char = this.#text[at]
      if (char === undefined) throw new Fault(endOfInput)
      if (char === '"') break
      if (char < ' ') this.#fail('in string literal', at)
      if (char !== '\\') at++
      else if (this.#text[at + 1] === 'u') {
        for (let i = 2; i < 6; i++) {
          if (!/[0-9a-fA-F]/.test(this.#text[at + i] ?? '')) {
            this.#fail('in \\u hexadecimal character escape', at + i)
          }
        }
        at += 6
      } else {
        if (!'"\\/bfnrt'.includes(this.#text[at + 1] ?? 'x')) {
          this.#fail('in string escape code', at + 1)
        }
        at += 2
      }
    }
    this.#at = at + 1
    return JSON.parse(this.#text.slice(start, at + 1))
  }
}

/** Go's message for a fault, also if only JSON.parse rejected the text. */
export const faultOf = ({ fault }: Scan): string => fault ?? endOfInput

export const scanJson = (text: string, depthMax: number, onKey?: OnKey): Scan =>
  scanned(new Scanner(text, depthMax, onKey, false))

/** Scans bytes that may be invalid UTF-8. */
export const scanJsonBytes = (bytes: Buffer, depthMax: number): Scan =>
  scanned(new Scanner(bytes.toString('latin1'), depthMax, undefined, true))

function scanned(scanner: Scanner): Scan {
  try {
    scanner.run()
    return { fault: undefined }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { fault: error.message }
  }
}
