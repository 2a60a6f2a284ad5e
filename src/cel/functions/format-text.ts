/**
 * `'%s is %d'.format([x, y])` as version 2 of cel-go's strings library does it, in its
 * default locale. Numbers with `%f` have commas between thousands, and `%e` writes a power of ten:
 * `1.500000×10⁰³`.
 */
import { byCodePoint, goQuote } from '#api/go-syntax.ts'
import { toDouble, toText } from '#cel/convert.ts'
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from '#cel/values.ts'
import { chargeText, work } from '#cel/work.ts'

/** Thrown while a format is read; the caller of `format` gets it as an error value. */
export class FormatProblem extends Error {}

const defaultPrecision = 6

export function formatText(format: string, args: ListValue): Value {
  try {
    return interpolate(format, args)
  } catch (error) {
    if (error instanceof FormatProblem) return new CelError(error.message)
    throw error
  }
}

function interpolate(format: string, args: ListValue): string {
  let out = ''
  let used = 0
  let at = 0
  while (at < format.length) {
    const percent = format.indexOf('%', at)
    if (percent < 0) return out + format.slice(at)
    out += format.slice(at, percent)
    if (format[percent + 1] === '%') {
      out += '%'
      at = percent + 2
      continue
    }
    if (percent + 1 >= format.length) throw new FormatProblem('unexpected end of string')
    if (used >= args.size) throw new FormatProblem(`index ${used} out of range`)
    const clause = readClause(format, percent + 1)
    const shown = applyClause(clause, args.at(used))
    chargeText(shown.length)
    out += shown
    used += 1
    at = clause.end
  }
  return out
}

export interface Clause {
  readonly verb: string
  readonly precision: number
  readonly end: number
}

export function readClause(format: string, start: number): Clause {
  let at = start
  let precision = defaultPrecision
  const problem = 'could not parse formatting clause'
  if (format[at] === '.') {
    const digits = /^[0-9]*/.exec(format.slice(at + 1))?.[0] ?? ''
    at += 1 + digits.length
    const inside = `${problem}: error while parsing precision`
    if (at >= format.length)
      throw new FormatProblem(`${inside}: could not find end of precision specifier`)
    if (digits === '')
      throw new FormatProblem(
        `${inside}: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`,
      )
    precision = Number(digits)
  }
  const verb = String.fromCodePoint(format.codePointAt(at) as number)
  if (!/^[sdfebxXo]$/.test(verb))
    throw new FormatProblem(`${problem}: unrecognized formatting clause "${verb}"`)
  return { verb, precision, end: at + 1 }
}

function wrong(accepted: string, value: Value): never {
  throw new FormatProblem(`error during formatting: ${accepted}, was given ${typeName(value)}`)
}

function applyClause({ verb, precision }: Clause, value: Value): string {
  switch (verb) {
    case 's':
      return asString(value)
    case 'd':
      return asDecimal(value)
    case 'f':
      return asFixed(doubleOf(value, 'fixed-point'), precision)
    case 'e':
      return asScientific(doubleOf(value, 'scientific')).padStart(precision)
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return integerOf(value, 'only integers and bools can be formatted as binary').toString(2)
    case 'o':
      return integerOf(value, 'octal clause can only be used on integers').toString(8)
    default:
      return asHex(value, verb === 'X')
  }
}

function integerOf(value: Value, accepted: string): bigint {
  if (typeof value === 'bigint') return value
  return value instanceof Uint ? value.value : wrong(accepted, value)
}

const asDecimal = (value: Value): string =>
  String(integerOf(value, 'decimal clause can only be used on integers'))

function doubleOf(value: Value, clause: string): number {
  if (typeof value === 'number') return value
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity')
    return toDouble(value) as number
  return wrong(`${clause} clause can only be used on doubles`, value)
}

/** The most fraction digits that JavaScript computes. The digits after them are shown as zeros. */
const exactDigitsMax = 100

function digitsOf(value: number, precision: number): string {
  const shown = Math.min(precision, exactDigitsMax)
  const even = halfToEven(value, shown)
  if (even !== undefined) return even
  const whole = Math.abs(value) >= 1e21
  const text = whole
    ? `${BigInt(value)}${shown === 0 ? '' : `.${'0'.repeat(shown)}`}`
    : value.toFixed(shown)
  return text + '0'.repeat(precision - shown)
}

/**
 * The text of a value halfway between two texts, if the one nearer to zero ends in an even digit.
 * Go takes that one, `2.5` → `2`, and JavaScript the other. Undefined for all other values, also
 * for `3.5`: both round it to `4`.
 */
function halfToEven(value: number, precision: number): string | undefined {
  if (Math.abs(value) >= 1e21 || precision >= exactDigitsMax) return undefined
  // A half at this digit is a multiple of this power of two. Smaller values only look like one.
  if (Math.abs(value) < 2 ** -(precision + 1)) return undefined
  const exact = value.toFixed(exactDigitsMax)
  const cut = exact.length - exactDigitsMax + precision
  if (!/^50*$/.test(exact.slice(cut))) return undefined
  const kept = exact.slice(0, precision === 0 ? cut - 1 : cut)
  return /[02468]$/.test(kept) ? kept : undefined
}

function asFixed(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞'
  const [whole, fraction] = digitsOf(value, precision).split('.') as [string, string?]
  const grouped = whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/**
 * kube-apiserver uses the precision of `%e` as the minimum width of the text. There are always six
 * fraction digits: `%.2e` of 1234.5 is `1.234500×10⁰³`. cel-go has narrow
 * spaces around the × where a locale is specified, which kube-apiserver does not do.
 */
function asScientific(value: number): string {
  if (!Number.isFinite(value)) return asFixed(value, defaultPrecision)
  const [mantissa, exponentText] = exponential(value).split('e') as [string, string]
  const exponent = Number(exponentText)
  const digits = String(Math.abs(exponent)).padStart(2, '0')
  const power = [...digits].map((digit) => superscripts[Number(digit)]).join('')
  return `${mantissa}×10${exponent < 0 ? '⁻' : ''}${power}`
}

/** Like toExponential, but a half is rounded to the even digit: `12345665` → `1.234566e+7`. */
function exponential(value: number): string {
  const [mantissa, exponent] = value.toExponential(exactDigitsMax).split('e') as [string, string]
  const cut = mantissa.indexOf('.') + 1 + defaultPrecision
  const isKept = /^50*$/.test(mantissa.slice(cut)) && /[02468]/.test(mantissa[cut - 1] as string)
  return isKept ? `${mantissa.slice(0, cut)}e${exponent}` : value.toExponential(defaultPrecision)
}

function asHex(value: Value, upper: boolean): string {
  const accepted = 'only integers, byte buffers, and strings can be formatted as hex'
  const text =
    typeof value === 'string'
      ? Buffer.from(value).toString('hex')
      : value instanceof Uint8Array
        ? Buffer.from(value).toString('hex')
        : integerOf(value, accepted).toString(16)
  return upper ? text.toUpperCase() : text
}

export const stringAccepts =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps'

function asString(value: Value): string {
  if (value instanceof ListValue) return listText(value)
  if (value instanceof MapValue) return mapText(value)
  if (value instanceof TypeValue) return value.name
  const text = toText(value)
  return typeof text === 'string' ? text : wrong(stringAccepts, value)
}

/** A value inside a list or map, quoted so that its type shows. */
function nestedText(value: Value): string {
  if (typeof value === 'string') return goQuote(value)
  if (value instanceof Uint8Array) return `b${goQuote(asString(value))}`
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return digitsOf(value, defaultPrecision)
    return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"+Inf"' : '"-Inf"'
  }
  if (value instanceof Timestamp) return `timestamp(${goQuote(asString(value))})`
  if (value instanceof Duration) return `duration(${goQuote(asString(value))})`
  const plain =
    typeof value !== 'object' ||
    value === null ||
    value instanceof Uint ||
    value instanceof ListValue ||
    value instanceof MapValue ||
    value instanceof TypeValue
  if (plain) return asString(value)
  throw new FormatProblem(`error during formatting: no formatting function for ${typeName(value)}`)
}

/** The work (work.ts) of showing a collection, and again of each of its elements. */
const shownWork = 300

function listText(list: ListValue): string {
  work(shownWork * (1 + list.size))
  return `[${[...list].map(nestedText).join(', ')}]`
}

function mapText(map: MapValue): string {
  const entries: [string, string][] = []
  work(shownWork * (1 + map.size))
  for (const key of map.keys()) {
    const isKey = ['string', 'boolean', 'bigint'].includes(typeof key) || key instanceof Uint
    if (!isKey)
      throw new FormatProblem(
        `error during formatting: no formatting function for map key of type ${typeName(key)}`,
      )
    entries.push([nestedText(key), nestedText(map.find(key) as Value)])
  }
  entries.sort(([a], [b]) => byCodePoint(a, b))
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`
}
