/** Checks the bounds of strings and numbers, and enum values. */
import { goFloat, goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { add, type Errors, type SchemaError } from './check-result.ts'
import { isNearInteger } from './check-type.ts'
import { formatCheck } from './formats.ts'
import type { JsonSchema } from './json-schema.ts'
import { compilePattern, type Pattern, patternProblem } from './pattern.ts'
import { type CheckOptions, formatOf, rangeCheck } from './schema-format.ts'
import { sortedCopy } from './sorted-copy.ts'

/** The length in code points, as Go counts characters. */
function lengthOf(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(i + 1)
    if (next >= 0xdc00 && next <= 0xdfff) {
      length--
      i++
    }
  }
  return length
}

/** Reports the first violated bound, then the format. Returns the number of checks. */
export function checkString(
  schema: JsonSchema,
  options: CheckOptions,
): (value: string, path: string, errors: Errors) => number {
  const { maxLength, minLength, pattern = '' } = schema
  const format = formatOf(schema, options)
  const hasFormat = formatCheck(format)
  let compiled: Pattern | undefined
  const tooLong = (value: string): boolean =>
    maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength
  const broken = (value: string): string | undefined => {
    if (minLength !== undefined && lengthOf(value) < minLength) {
      return `should be at least ${minLength} chars long`
    }
    if (pattern === '') return undefined
    const problem = compiled === undefined ? patternProblem(pattern) : undefined
    if (problem !== undefined)
      return `should match '${pattern}, but pattern is invalid: ${problem}'`
    compiled ??= compilePattern(pattern)
    return compiled.matches(value) ? undefined : `should match '${pattern}'`
  }
  return (value, path, errors) => {
    const isLong = tooLong(value)
    const text = isLong ? `should be at most ${maxLength} chars long` : broken(value)
    if (text !== undefined)
      add(errors, {
        is: isLong ? 'long' : 'value',
        path,
        value,
        bound: null,
        message: `${path} in body ${text}`,
        ...(maxLength !== undefined && { most: maxLength }),
      })
    if (hasFormat === undefined) return 1
    if (!hasFormat(value)) {
      const message = `${path} in body must be of type ${format}: ${goQuote(value)}`
      add(errors, { is: 'type', path, value, message })
    }
    return 2
  }
}

type Amount = number | bigint

type Report = (error: SchemaError) => void
interface Place {
  readonly path: string
  readonly value: Amount
  readonly report: Report
}

/** If the value is an integer, bounds are truncated to integers, as in kube-apiserver. */
export function checkNumber(
  schema: JsonSchema,
  options: CheckOptions,
): (value: Amount, path: string, errors: Errors) => number {
  const { multipleOf, minimum, maximum } = schema
  const fits = rangeCheck(schema, options)
  const isBounded = multipleOf !== undefined || minimum !== undefined || maximum !== undefined
  if (!isBounded && fits === undefined) return () => 1
  const withFormat = schema.format ? `with format ${schema.format}` : '(default format)'
  /** Whether a number fits in the type. Reports an error if not. */
  const inRange = (what: string, number: Amount, { path, report }: Place): boolean => {
    if (fits === undefined || fits(number)) return true
    const message = `${what} value must be of type ${schema.type} ${withFormat} in ${path}`
    report({ is: 'whole', path: '', message })
    return false
  }
  const factorFits = factorCheck(options)
  return (value, path, errors) => {
    const place: Place = { path, value, report: (error) => add(errors, error) }
    inRange('Checked', value, place)
    const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value)
    if (multipleOf !== undefined) {
      const cuts = inRange('MultipleOf', multipleOf, place) && isWhole
      const error = factorFits(value, cuts, multipleOf, path)
      if (error !== undefined) place.report(error)
    }
    if (minimum !== undefined) {
      const cuts = inRange('Minimum boundary', minimum, place) && isWhole
      checkBound(place, minimum, cuts, schema.exclusiveMinimum === true, isBelow)
    }
    if (maximum !== undefined) {
      const cuts = inRange('Maximum boundary', maximum, place) && isWhole
      checkBound(place, maximum, cuts, schema.exclusiveMaximum === true, isAbove)
    }
    return 1
  }
}

interface Breaks {
  readonly word: string
  readonly breaks: (value: Amount, bound: number) => boolean
}
const isBelow: Breaks = { word: 'greater', breaks: (value, bound) => value < bound }
const isAbove: Breaks = { word: 'less', breaks: (value, bound) => value > bound }

function checkBound(
  { value, path, report }: Place,
  given: number,
  cuts: boolean,
  strict: boolean,
  { word, breaks }: Breaks,
): void {
  const bound = cuts ? Math.trunc(given) : given
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint can equal a number
  const isBroken = breaks(value, bound) || (strict && value == bound)
  if (!isBroken) return
  const shown = cuts ? String(bound) : goFloat(given)
  const words = strict ? `${word} than` : `${word} than or equal to`
  const message = `${path} in body should be ${words} ${shown}`
  report({ is: 'value', path, value, bound, message })
}

const refusesZeroFactors = change('a multipleOf that is zero as an integer is reported', {
  since: 27,
})

type FactorCheck = (
  value: Amount,
  cuts: boolean,
  factor: number,
  path: string,
) => SchemaError | undefined

function factorCheck({ release }: CheckOptions): FactorCheck {
  const refusesZero = release.has(refusesZeroFactors)
  return (value, cuts, factor, path) => {
    const cut = cuts && (refusesZero || Math.trunc(factor) !== 0) ? Math.trunc(factor) : factor
    if (cut < 0 || (refusesZero && cut === 0)) {
      const message = `factor MultipleOf declared for ${path} must be positive: ${goFloat(cut)}`
      return { is: 'value', path, value: cut, message }
    }
    const fits =
      cuts && Number.isInteger(cut)
        ? BigInt(value) % BigInt(cut) === 0n
        : isNearInteger(cut < 1 ? (1 / cut) * Number(value) : Number(value) / cut)
    if (fits) return undefined
    const shown = cuts ? String(cut) : goFloat(cut)
    const message = `${path} in body should be a multiple of ${shown}`
    return { is: 'value', path, value, bound: cut, message }
  }
}

/**
 * `lists`: the numbers of lists that were already seen, by their text. A long list may be reported
 * once for each value.
 */
export function checkEnum(
  schema: JsonSchema,
  lists: Map<string, number>,
): (value: Json, path: string, errors: Errors) => number {
  const { enum: allowed = [] } = schema
  if (allowed.length === 0) return () => 0
  const texts = new Set(allowed.map((one) => JSON.stringify(sortedCopy(one))))
  const plain = new Set(allowed)
  const listed = JSON.stringify(allowed)
  const number = lists.get(listed) ?? lists.size
  lists.set(listed, number)
  return (value, path, errors) => {
    if (value !== null && (texts.has(JSON.stringify(value)) || isConverted(value, plain))) return 0
    const message = `${path} in body should be one of list ${number}`
    add(errors, { is: 'enum', path, value, allowed, message })
    return 0
  }
}

/**
 * Go converts numbers for a comparison: floats are truncated to integers, and an integer is a code
 * point of a string.
 */
function isConverted(value: Json, allowed: ReadonlySet<Json>): boolean {
  if (typeof value !== 'number') return false
  if (allowed.has(Math.trunc(value))) return true
  const isCharacter = Number.isInteger(value) && value >= 0 && value <= 0x10ffff
  return isCharacter && allowed.has(String.fromCodePoint(value))
}
