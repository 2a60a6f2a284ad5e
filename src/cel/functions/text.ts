/** cel-go's strings library and Kubernetes' regular expressions. Indices count code points. */
import { ArrayList } from '#cel/collections.ts'
import { formatText } from '#cel/functions/format-text.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { compileRegex } from '#cel/regex.ts'
import { CelError, type ListValue, typeName, type Value } from '#cel/values.ts'
import { chargeList, chargeText } from '#cel/work.ts'

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`)

/**
 * The code points of a text. A text without surrogates is returned as it is, because its indices
 * already count code points.
 */
const points = (text: string): string | readonly string[] =>
  /[\ud800-\udfff]/.test(text) ? [...text] : text

const joined = (part: string | readonly string[]): string =>
  typeof part === 'string' ? part : part.join('')

function charAt(text: string, index: bigint): Value {
  const runes = points(text)
  if (index < 0n || index > BigInt(runes.length)) return outOfRange(index)
  return runes[Number(index)] ?? ''
}

/** Where `part` begins in code points, at or after `from`. */
function indexOf(text: string, part: string, from: bigint): Value {
  if (from < 0n) return outOfRange(from)
  const runes = points(text)
  const length = BigInt(runes.length)
  if (part === '') return from > length ? length : from
  if (from >= length) return -1n
  if (typeof runes === 'string') return BigInt(runes.indexOf(part, Number(from)))
  const found = text.indexOf(part, runes.slice(0, Number(from)).join('').length)
  return found < 0 ? -1n : BigInt([...text.slice(0, found)].length)
}

function lastIndexOf(text: string, part: string, from: bigint | undefined): Value {
  const runes = points(text)
  const length = BigInt(runes.length)
  if (from === undefined) {
    if (part === '') return length
    return runes.length === 0 ? -1n : lastIndexOf(text, part, length - 1n)
  }
  if (from < 0n) return outOfRange(from)
  if (part === '') return from > length ? length : from
  if (from >= length) return -1n
  if (typeof runes === 'string') return BigInt(runes.lastIndexOf(part, Number(from)))
  const found = text.lastIndexOf(part, runes.slice(0, Number(from)).join('').length)
  return found < 0 ? -1n : BigInt([...text.slice(0, found)].length)
}

function substring(text: string, start: bigint, end: bigint | undefined): Value {
  const runes = points(text)
  const length = BigInt(runes.length)
  if (end !== undefined && start > end)
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0n || start > length) return outOfRange(start)
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end)
  return joined(runes.slice(Number(start), end === undefined ? undefined : Number(end)))
}

/** Go's strings.Replace: an empty `old` matches before each code point and at the end. */
function replace(text: string, old: string, by: string, count: bigint): Value {
  if (old === by || count === 0n) return text
  const limit = count < 0n ? Number.POSITIVE_INFINITY : Number(count)
  if (old === '') {
    const runes = [...text]
    const places = Math.min(limit, runes.length + 1)
    chargeText(text.length + places * by.length)
    const head = runes.slice(0, places).map((rune) => by + rune)
    const tail = runes.slice(places)
    return head.join('') + (places > runes.length ? by : '') + tail.join('')
  }
  const parts = text.split(old)
  chargeText(text.length + Math.min(limit, parts.length) * by.length)
  if (limit >= parts.length - 1) return parts.join(by)
  return [parts.slice(0, limit + 1).join(by), ...parts.slice(limit + 1)].join(old)
}

/** Go's strings.SplitN: the last part keeps the rest. */
function split(text: string, separator: string, count: bigint): Value {
  if (count === 0n) return new ArrayList([])
  if (separator === '') chargeList(text.length)
  const parts = separator === '' ? [...text] : text.split(separator)
  if (count < 0n || BigInt(parts.length) <= count) return new ArrayList(parts)
  const kept = Number(count) - 1
  return new ArrayList([...parts.slice(0, kept), parts.slice(kept).join(separator)])
}

/** What Go takes for white space: JavaScript has U+FEFF and not U+0085. */
const isSpace = (unit: string): boolean =>
  unit === '\u0085' || (unit !== '\ufeff' && unit.trim() === '')

function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text[start] as string)) start += 1
  while (end > start && isSpace(text[end - 1] as string)) end -= 1
  return text.slice(start, end)
}

const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
const upperAscii = (text: string): string =>
  text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())

function join(list: ListValue, separator: string): Value {
  const parts: string[] = []
  chargeList(list.size)
  for (const element of list) {
    if (typeof element !== 'string')
      return new CelError(`unsupported type conversion from '${typeName(element)}' to string`)
    chargeText(element.length + separator.length)
    parts.push(element)
  }
  return parts.join(separator)
}

const escapes = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
])

const quote = (text: string): string =>
  `"${text.toWellFormed().replace(/[\x07-\x0d\\"]/g, (ch) => escapes.get(ch) ?? ch)}"`

function find(text: string, pattern: string): Value {
  const regex = compileRegex(pattern)
  if (regex instanceof CelError) return new CelError(`Illegal regex: ${regex.message}`)
  return regex.find(text, 1)[0] ?? ''
}

function findAll(text: string, pattern: string, count: bigint): Value {
  const regex = compileRegex(pattern)
  if (regex instanceof CelError) return new CelError(`Illegal regex: ${regex.message}`)
  return new ArrayList(regex.find(text, count < 0n ? Number.POSITIVE_INFINITY : Number(count)))
}

/** A function of strings and ints; the declarations have checked the types. */
// biome-ignore lint/suspicious/noExplicitAny: the types of the arguments follow from the overload
const of = (call: (...args: any[]) => Value): Implementation => call as Implementation

/** Implementations by the id of the overload. */
export const textImplementations: readonly (readonly [string, Implementation])[] = [
  ['string_char_at_int', of(charAt)],
  ['string_index_of_string', of((text, part) => indexOf(text, part, 0n))],
  ['string_index_of_string_int', of(indexOf)],
  ['string_last_index_of_string', of((text, part) => lastIndexOf(text, part, undefined))],
  ['string_last_index_of_string_int', of(lastIndexOf)],
  ['string_lower_ascii', of(lowerAscii)],
  ['string_upper_ascii', of(upperAscii)],
  ['string_replace_string_string', of((text, old, by) => replace(text, old, by, -1n))],
  ['string_replace_string_string_int', of(replace)],
  ['string_split_string', of((text, separator) => split(text, separator, -1n))],
  ['string_split_string_int', of(split)],
  ['string_substring_int', of((text, start) => substring(text, start, undefined))],
  ['string_substring_int_int', of(substring)],
  ['string_trim', of(trim)],
  ['list_join', of((list) => join(list, ''))],
  ['list_join_string', of(join)],
  ['string_format', of(formatText)],
  ['strings_quote', of(quote)],
  ['string_find_string', of(find)],
  ['string_find_all_string', of((text, pattern) => findAll(text, pattern, -1n))],
  ['string_find_all_string_int', of(findAll)],
]
