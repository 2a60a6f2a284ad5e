/**
 * Resolves plain YAML scalars like the library that Kubernetes uses. It knows YAML 1.1's
 * yes/no/on/off, octal numbers with a leading 0, and underscores in numbers. Times remain text, and
 * base 60 is not supported.
 */
import type { Json } from '#api/object-meta.ts'
import { parseTimestamp } from '#api/timestamp.ts'
import { exactInteger } from './exact-integer.ts'

const words = new Map<string, Json>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, Json] => [word, null]),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word): [string, Json] => [word, true],
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word): [string, Json] => [word, false],
  ),
  ...['.nan', '.NaN', '.NAN'].map((word): [string, Json] => [word, Number.NaN]),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word): [string, Json] => [
    word,
    Number.POSITIVE_INFINITY,
  ]),
  ...['-.inf', '-.Inf', '-.INF'].map((word): [string, Json] => [word, Number.NEGATIVE_INFINITY]),
])

const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
/** The longest integer of 64 bits in any base; longer digits are floats. */
const digitsMax = 66

function integerOf(text: string): number | bigint | undefined {
  if (text.length > digitsMax) return undefined
  const match = integer.exec(text)
  if (match === null) return undefined
  const [, sign, hex, binary, octal, decimal] = match
  const digits =
    hex !== undefined
      ? `0x${hex}`
      : binary !== undefined
        ? `0b${binary}`
        : octal !== undefined
          ? `0o${octal}`
          : decimal
  const value = BigInt(digits)
  if (sign === '-') return value <= 2n ** 63n ? exactInteger(-value) : undefined
  // Kubernetes converts YAML to JSON, where an integer beyond int64 becomes a float.
  if (value >= 2n ** 63n) return value < 2n ** 64n ? Number(value) : undefined
  return exactInteger(value)
}

/**
 * After a leading point, underscores are allowed only between digits; in other numbers, anywhere.
 */
const pointFirst = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/

export function resolvePlain(text: string): Json {
  const word = words.get(text)
  if (word !== undefined) return word
  if (!/^[-+.0-9]/.test(text)) return text
  const plain = text.replaceAll('_', '')
  if (text.startsWith('.')) return pointFirst.test(text) ? finite(plain, text) : text
  return (integerOf(plain) as Json | undefined) ?? (float.test(plain) ? finite(plain, text) : text)
}

/** A number beyond the range of a double is text. */
function finite(digits: string, text: string): Json {
  const value = Number(digits)
  return Number.isFinite(value) ? value : text
}

/** The library's tag for a resolved plain scalar. */
export function plainTag(value: Json | bigint, text: string): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'str'
  return integerOf(text.replaceAll('_', '')) === undefined ? 'float' : 'int'
}

const clock = /\d\d?:\d\d?:\d\d?(?:\.\d+)?/.source
const time = new RegExp(
  `^(\\d{4}-\\d\\d?-\\d\\d?)(?:[Tt](${clock})(?:Z|[-+]\\d\\d:\\d\\d)| (${clock}))?$`,
)

/** Whether a text tagged as a timestamp is valid; its parts may have one digit. */
export function isTime(text: string): boolean {
  const match = time.exec(text)
  if (match === null) return false
  const [, day, zoned, plain = '0:0:0'] = match
  const full = `${day}T${zoned ?? plain}Z`.replace(/(?<=[-T:])\d(?!\d)/g, '0$&')
  return parseTimestamp(full) !== undefined
}
