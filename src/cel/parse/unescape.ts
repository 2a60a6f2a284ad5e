/** The value of a string or bytes literal: removes quotes and resolves escapes. */

const simpleEscapes = new Map([
  ['a', 7],
  ['b', 8],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['\\', 92],
  ["'", 39],
  ['"', 34],
  ['`', 96],
  ['?', 63],
])

const digitCounts = new Map([
  ['x', 2],
  ['X', 2],
  ['u', 4],
  ['U', 8],
])

interface Escape {
  readonly code: number
  /** Of the escape, with its backslash. */
  readonly length: number
}

function readEscape(body: string, at: number): Escape {
  const letter = body[at + 1]!
  const simple = simpleEscapes.get(letter)
  if (simple !== undefined) return { code: simple, length: 2 }
  const digits = digitCounts.get(letter)
  if (digits !== undefined)
    return { code: Number.parseInt(body.slice(at + 2, at + 2 + digits), 16), length: 2 + digits }
  return { code: Number.parseInt(body.slice(at + 1, at + 4), 8), length: 4 }
}

const isCodePoint = (code: number) => code < 0xd800 || (code > 0xdfff && code <= 0x10ffff)

/** Removes quotes; the lexer has checked that they and the escapes are complete. */
function bodyOf(text: string): { body: string; isRaw: boolean } {
  let literal = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const isRaw = literal[0] === 'r' || literal[0] === 'R'
  if (isRaw) literal = literal.slice(1)
  const quotes = literal.length >= 6 && /^('''|""")/.test(literal) ? 3 : 1
  return { body: literal.slice(quotes, -quotes), isRaw }
}

/** The string that a literal means, or the error. */
export function unescapeString(text: string): { value: string } | { error: string } {
  const { body, isRaw } = bodyOf(text)
  if (isRaw || !body.includes('\\')) return { value: body }
  let value = ''
  for (let at = 0; at < body.length; ) {
    if (body[at] !== '\\') {
      value += body[at++]
      continue
    }
    const escape = readEscape(body, at)
    if (!isCodePoint(escape.code)) return { error: 'invalid unicode code point' }
    value += String.fromCodePoint(escape.code)
    at += escape.length
  }
  return { value }
}

/** The bytes that a literal means, without its prefix `b`, or the error. */
export function unescapeBytes(text: string): { value: Uint8Array } | { error: string } {
  const { body, isRaw } = bodyOf(text)
  if (isRaw || !body.includes('\\')) return { value: new TextEncoder().encode(body) }
  const bytes: number[] = []
  for (let at = 0; at < body.length; ) {
    const backslash = body.indexOf('\\', at)
    const end = backslash < 0 ? body.length : backslash
    bytes.push(...new TextEncoder().encode(body.slice(at, end)))
    at = end
    if (at === body.length) break
    if (body[at + 1] === 'u' || body[at + 1] === 'U') return { error: 'unable to unescape string' }
    const escape = readEscape(body, at)
    bytes.push(escape.code)
    at += escape.length
  }
  return { value: Uint8Array.from(bytes) }
}
