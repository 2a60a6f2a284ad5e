/**
 * The paths of printer columns: `.status.conditions[?(@.type=="Ready")].status`. Parsed once, and answering the values
 * found in their order. A path that cannot be read, or that meets a value it cannot go into, finds nothing.
 */
import type { Json } from '#api/object-meta.ts'

type Step = (values: Json[]) => Json[]

/** A place where the path does not fit the value. */
class Mismatch extends Error {}

export interface JsonPath {
  find(value: Json): Json[]
}

/** Undefined where the text is no path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  try {
    const steps = new Parser(text).steps()
    return {
      find(value) {
        try {
          return walk(steps, [value])
        } catch (error) {
          if (error instanceof Mismatch) return []
          throw error
        }
      },
    }
  } catch (error) {
    if (error instanceof Mismatch) return undefined
    throw error
  }
}

const walk = (steps: readonly Step[], from: Json[]): Json[] =>
  steps.reduce((values, step) => step(values), from)

const isMap = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isMap(value) && Object.hasOwn(value, name) ? [value[name]] : []))

const inside = (value: Json): Json[] =>
  Array.isArray(value) ? value : isMap(value) ? Object.keys(value).map((key) => value[key]) : []

const wildcard: Step = (values) => values.flatMap(inside)

const recursive: Step = (values) =>
  values.flatMap((value) => {
    const children = inside(value)
    return children.length === 0 ? [] : [value, ...recursive(children)]
  })

function slice(start: number | undefined, end: number | undefined, step: number): Step {
  return (values) =>
    values.flatMap((value) => {
      if (value === null) return []
      if (!Array.isArray(value)) throw new Mismatch()
      const { length } = value
      const from = start === undefined ? 0 : start < 0 ? start + length : start
      const to = end === undefined ? length : end < 0 ? end + length : end
      if (from === to) return []
      if (from < 0 || from >= length || to < 0 || to > length || from > to) throw new Mismatch()
      return value.slice(from, to).filter((_, i) => i % step === 0)
    })
}

type Operator = '==' | '!=' | '<' | '>' | '<=' | '>='

function compare(left: Json, right: Json, operator: Operator): boolean {
  if (typeof left !== typeof right || left === null || typeof left === 'object')
    throw new Mismatch()
  const [a, b] = [left, right as typeof left]
  switch (operator) {
    case '==':
      return a === b
    case '!=':
      return a !== b
    case '<':
      return a < b
    case '>':
      return a > b
    case '<=':
      return a <= b
    case '>=':
      return a >= b
    default:
      throw new Mismatch()
  }
}

function filter(
  left: readonly Step[],
  right: readonly Step[],
  operator: Operator | 'exists',
): Step {
  const passes = (item: Json): boolean => {
    const lefts = walk(left, [item])
    if (operator === 'exists') return lefts.length > 0
    if (lefts.length === 0) return false
    const rights = walk(right, [item])
    if (rights.length === 0) return false
    if (lefts.length > 1 || rights.length > 1) throw new Mismatch()
    return compare(lefts[0], rights[0], operator)
  }
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) throw new Mismatch()
      return value.filter(passes)
    })
}

const terminators = new Set([' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}'])

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  steps(): Step[] {
    const steps: Step[] = []
    while (this.#at < this.#text.length) {
      const rest = this.#text.slice(this.#at)
      const [ch] = rest
      if (rest.startsWith('[?(')) steps.push(this.#filter())
      else if (rest.startsWith('..')) {
        this.#at += 2
        steps.push(recursive)
        if (/^[\p{L}\p{N}_]/u.test(rest.slice(2))) steps.push(this.#name())
      } else if (ch === ' ' || ch === '@' || ch === '$') this.#at++
      else if (ch === '[') steps.push(this.#brackets())
      else if (ch === '.') {
        this.#at++
        steps.push(this.#name())
      } else if (ch === '"' || ch === "'") steps.push(this.#constant(this.#quoted()))
      else steps.push(this.#constant(this.#word()))
    }
    return steps
  }

  #constant(value: Json): Step {
    return (values) => values.map(() => value)
  }

  #name(): Step {
    let name = ''
    for (; this.#at < this.#text.length; this.#at++) {
      const ch = this.#text[this.#at]
      if (ch === '\\') {
        this.#at++
        name += this.#text[this.#at] ?? ''
      } else if (terminators.has(ch)) break
      else name += ch
    }
    return name === '*' ? wildcard : field(name)
  }

  #quoted(): string {
    const quote = this.#text[this.#at++]
    let value = ''
    for (; this.#at < this.#text.length; this.#at++) {
      const ch = this.#text[this.#at]
      if (ch === quote) {
        this.#at++
        return value
      }
      if (ch === '\\') this.#at++
      value += this.#text[this.#at] ?? ''
    }
    throw new Mismatch()
  }

  /** A number, true or false. */
  #word(): Json {
    const match = /^(?:[+-]?[0-9.]+|true|false)/.exec(this.#text.slice(this.#at))
    if (match === null) throw new Mismatch()
    this.#at += match[0].length
    if (match[0] === 'true' || match[0] === 'false') return match[0] === 'true'
    const number = Number(match[0])
    if (Number.isNaN(number)) throw new Mismatch()
    return number
  }

  #brackets(): Step {
    const end = this.#text.indexOf(']', this.#at)
    if (end === -1) throw new Mismatch()
    const text = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    const parts = text.split(',')
    if (parts.length === 1) return selection(text)
    const union = parts.map((part) => selection(part.trim()))
    return (values) => union.flatMap((step) => step(values))
  }

  #filter(): Step {
    const start = this.#at + '[?('.length
    let quote = ''
    let at = start
    for (; at < this.#text.length; at++) {
      const ch = this.#text[at]
      if (quote !== '') {
        if (ch === quote && this.#text[at - 1] !== '\\') quote = ''
      } else if (ch === '"' || ch === "'") quote = ch
      else if (ch === ')') break
    }
    if (this.#text[at] !== ')' || this.#text[at + 1] !== ']') throw new Mismatch()
    const text = this.#text.slice(start, at)
    this.#at = at + 2
    const split = /[!<>=]/.exec(text)
    if (split === null || split.index === 0) return filter(new Parser(text).steps(), [], 'exists')
    const operator = (/^[!<>=]+/.exec(text.slice(split.index)) as RegExpExecArray)[0]
    const right = text.slice(split.index + operator.length)
    return filter(
      new Parser(text.slice(0, split.index)).steps(),
      new Parser(right).steps(),
      operator as Operator,
    )
  }
}

/** What stands in brackets: a quoted name, a place, a slice or a star. */
function selection(text: string): Step {
  if (text === '*') return slice(undefined, undefined, 1)
  const key = /^'([^']*)'$/.exec(text)
  if (key !== null) return field(key[1].replaceAll('\\', ''))
  const match = /^(-?\d*)(:-?\d*)?(:\d*)?$/.exec(text)
  if (match === null || text === '') throw new Mismatch()
  const number = (part: string | undefined) =>
    part === undefined || part === '' || part === ':' ? undefined : Number(part.replace(':', ''))
  const start = number(match[1])
  if (match[2] !== undefined) return slice(start, number(match[2]), number(match[3]) ?? 1)
  if (start === undefined) throw new Mismatch()
  return slice(start, start === -1 ? undefined : start + 1, 1)
}
