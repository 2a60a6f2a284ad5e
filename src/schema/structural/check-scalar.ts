/** The bounds of texts and numbers, and lists of allowed values. */
import { goFloat, goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { add, type Errors, type SchemaError } from './check-result.ts'
import { isNearInteger } from './check-type.ts'
import { formatCheck } from './formats.ts'
import type { JsonSchema } from './json-schema.ts'
import { compilePattern, type Pattern, patternProblem } from './pattern.ts'
import { sortedCopy } from './sorted-copy.ts'

/** How many characters a text has: code points, as Go counts them. */
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

/** The first bound that is broken is said, then the format. Answers the checks made. */
export function checkString(
  schema: JsonSchema,
): (value: string, path: string, errors: Errors) => number {
  const { maxLength, minLength, pattern = '', format = '' } = schema
  const hasFormat = formatCheck(format)
  let compiled: Pattern | undefined
  const broken = (value: string): string | undefined => {
    if (maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength) {
      return `should be at most ${maxLength} chars long`
    }
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
    const text = broken(value)
    if (text !== undefined)
      add(errors, { is: 'value', path, value, bound: null, message: `${path} in body ${text}` })
    if (hasFormat === undefined) return 1
    if (!hasFormat(value)) {
      const message = `${path} in body must be of type ${format}: ${goQuote(value)}`
      add(errors, { is: 'value', path, value, message })
    }
    return 2
  }
}

type Amount = number | bigint

/** Bounds are cut to integers where the value is one, as the original cuts them. */
export function checkNumber(
  schema: JsonSchema,
): (value: Amount, path: string, errors: Errors) => number {
  const { multipleOf, minimum, maximum } = schema
  if (multipleOf === undefined && minimum === undefined && maximum === undefined) return () => 1
  return (value, path, errors) => {
    const whole = typeof value === 'bigint' || Number.isSafeInteger(value)
    const say = (text: string, broken: number) =>
      add(errors, {
        is: 'value',
        path,
        value,
        bound: broken,
        message: `${path} in body should be ${text}`,
      })
    const bound = (given: number) => (whole ? Math.trunc(given) : given)
    const show = (given: number) => (whole ? String(Math.trunc(given)) : goFloat(given))
    if (multipleOf !== undefined) {
      const error = multipleError(value, whole, multipleOf, path)
      if (error !== undefined) add(errors, error)
    }
    if (minimum !== undefined) {
      const least = bound(minimum)
      const strict = schema.exclusiveMinimum === true
      if (strict ? value <= least : value < least) {
        const words = strict ? 'greater than' : 'greater than or equal to'
        say(`${words} ${show(minimum)}`, least)
      }
    }
    if (maximum !== undefined) {
      const most = bound(maximum)
      const strict = schema.exclusiveMaximum === true
      if (strict ? value >= most : value > most) {
        const words = strict ? 'less than' : 'less than or equal to'
        say(`${words} ${show(maximum)}`, most)
      }
    }
    return 1
  }
}

function multipleError(
  value: Amount,
  whole: boolean,
  factor: number,
  path: string,
): SchemaError | undefined {
  const cut = whole && Math.trunc(factor) !== 0 ? Math.trunc(factor) : factor
  if (cut < 0) {
    const message = `factor MultipleOf declared for ${path} must be positive: ${goFloat(cut)}`
    return { is: 'value', path, value: cut, message }
  }
  const fits =
    whole && Number.isInteger(cut)
      ? BigInt(value) % BigInt(cut) === 0n
      : isNearInteger(cut < 1 ? (1 / cut) * Number(value) : Number(value) / cut)
  if (fits) return undefined
  const shown = whole ? String(cut) : goFloat(cut)
  const message = `${path} in body should be a multiple of ${shown}`
  return { is: 'value', path, value, bound: cut, message }
}

/** `lists`: numbers of the lists met so far, by their text. A list may be long, and be told of as often as there are values. */
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

/** Go converts numbers on the way to a comparison: floats are cut to integers, integers are code points of texts. */
function isConverted(value: Json, allowed: ReadonlySet<Json>): boolean {
  if (typeof value !== 'number') return false
  if (allowed.has(Math.trunc(value))) return true
  const isCharacter = Number.isInteger(value) && value >= 0 && value <= 0x10ffff
  return isCharacter && allowed.has(String.fromCodePoint(value))
}
