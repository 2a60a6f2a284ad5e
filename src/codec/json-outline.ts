/**
 * Facts about a valid JSON text that its value lacks: the number of written keys, the depth, and
 * whether there are fractions or long numbers. One pass over the bytes, without allocations.
 */
const quote = 0x22
const minus = 0x2d
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const backslash = 0x5c
const lowerE = 0x65
/** `[` and `{` differ only in this bit, as do `]` and `}`, and lower and upper case. */
const caseBit = 0x20
const opening = 0x7b
const closing = 0x7d

/** For longer strings, searching for the closing quote is faster than a loop. */
const walkedLengthMax = 40

/** A number with this many digits and signs may be an integer that a double cannot represent. */
const longNumberLength = 16

export interface Outline {
  /** Keys as written: a duplicate key counts twice. */
  readonly keys: number
  readonly depth: number
  /** Some number has a fraction or an exponent. */
  readonly fractions: boolean
  readonly longNumbers: boolean
}

export function outlineOf(bytes: Buffer): Outline {
  const end = bytes.length
  let keys = 0
  let depth = 0
  let open = 0
  let fractions = false
  let longNumbers = false
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === quote) at = endOfText(bytes, at + 1)
    else if (byte === colon) keys++
    else if ((byte >= zero && byte <= nine) || byte === minus) {
      const start = at
      for (at++; at < end; at++) {
        const next = bytes[at] as number
        if (next >= zero && next <= nine) continue
        if (next !== dot && (next | caseBit) !== lowerE) break
        fractions = true
      }
      if (at - start >= longNumberLength) longNumbers = true
      at--
    } else if ((byte | caseBit) === opening) {
      if (++open > depth) depth = open
    } else if ((byte | caseBit) === closing) open--
  }
  return { keys, depth, fractions, longNumbers }
}

/** The index of the closing quote of a string that starts at `from`. */
function endOfText(bytes: Buffer, from: number): number {
  const walked = Math.min(from + walkedLengthMax, bytes.length)
  let at = from
  for (; at < walked; at++) {
    const byte = bytes[at] as number
    if (byte === quote) return at
    if (byte === backslash) at++
  }
  for (; at < bytes.length; at++) {
    at = bytes.indexOf(quote, at)
    if (at < 0) break
    let escapes = at
    while (escapes > from && bytes[escapes - 1] === backslash) escapes--
    if ((at - escapes) % 2 === 0) return at
  }
  return bytes.length
}
