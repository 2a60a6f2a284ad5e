/** Unquotes Go string literals. Undefined if an escape sequence is invalid in Go. */
const escapes =
  /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y

const short: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

export function unquoteGo(text: string, quote: string): string | undefined {
  let value = ''
  for (let at = 0; at < text.length; ) {
    const ch = text[at] as string
    if (ch === quote) return undefined
    if (ch !== '\\') {
      value += ch
      at++
      continue
    }
    escapes.lastIndex = at
    const match = escapes.exec(text)
    if (match === null) return undefined
    const meant = meantBy(match, quote)
    if (meant === undefined) return undefined
    value += meant
    at = escapes.lastIndex
  }
  return value
}

function meantBy(match: RegExpExecArray, quote: string): string | undefined {
  const [, name, byte, four, eight, octal] = match
  if (name !== undefined) {
    // The other kind of quote needs no escape, and has none.
    return (name === '"' || name === "'") && name !== quote ? undefined : short[name]
  }
  if (octal !== undefined) {
    const code = Number.parseInt(octal, 8)
    return code > 255 ? undefined : byteText(code)
  }
  if (byte !== undefined) return byteText(Number.parseInt(byte, 16))
  const code = Number.parseInt((four ?? eight) as string, 16)
  return code > 0x10ffff || (code >= 0xd800 && code < 0xe000)
    ? undefined
    : String.fromCodePoint(code)
}

/** A single byte from 128 on is not valid UTF-8 and becomes the replacement character. */
const byteText = (code: number): string => (code < 0x80 ? String.fromCharCode(code) : '\ufffd')
