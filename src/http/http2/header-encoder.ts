/**
 * Encodes response headers as a header block: names by their static index if they have one, values
 * literally. It uses no dynamic table, so a block depends only on its headers.
 */
import type { AnswerHeaders } from '#http/exchange.ts'
import { staticFields, staticNumberOf } from './header-fields.ts'

const { fromCharCode } = String

/** An integer whose prefix is the last `bits` bits of a byte; `first` has the other bits. */
function number(value: number, bits: number, first: number): string {
  const full = (1 << bits) - 1
  if (value < full) return fromCharCode(first | value)
  let text = fromCharCode(first | full)
  let left = value - full
  for (; left >= 128; left >>>= 7) text += fromCharCode((left & 127) | 128)
  return text + fromCharCode(left)
}

const text = (value: string) => number(value.length, 7, 0) + value

/** The start of a literal field without indexing, by name. */
const beginnings = new Map<string, string>()
/** Our own names are valid, but forwarded responses have others. */
const beginningsMax = 200

function beginning(name: string): string {
  const known = beginnings.get(name)
  if (known !== undefined) return known
  const numbered = staticNumberOf.get(name)
  const made = numbered === undefined ? `\0${text(name)}` : number(numbered, 4, 0)
  if (beginnings.size < beginningsMax) beginnings.set(name, made)
  return made
}

/** Status codes that are whole fields of the static table. */
const statusFields = new Map(
  staticFields.flatMap(({ name, value }, index) =>
    name === ':status' ? [[Number(value), fromCharCode(128 | index)] as const] : [],
  ),
)

/** Returns one character per byte. */
export function encodeHeaders(status: number, headers: AnswerHeaders): string {
  let block = encodeHeader(':status', status)
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    if (typeof value === 'object') for (const one of value) block += encodeHeader(name, one)
    else block += encodeHeader(name, value)
  }
  return block
}

export function encodeHeader(name: string, value: string | number): string {
  if (typeof value === 'string') return beginning(name) + text(value)
  const whole = name === ':status' ? statusFields.get(value) : undefined
  return whole ?? beginning(name) + text(String(value))
}
