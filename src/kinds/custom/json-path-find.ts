/**
 * Evaluates the JSON paths of printer columns on an object. A path that does not fit the object
 * fails and shows nothing. However, values found before the failure count for a filter that only
 * checks existence. Objects are not changed.
 */
import { byCodePoint } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { type JsonPathNode, notInt64 } from './json-path-node.ts'

/** Numbers that are not from JSON: literals of a path, and bytes of a string. */
export class OtherNumber {
  readonly kind: 'int' | 'uint' | 'float'
  readonly value: number | bigint
  constructor(kind: 'int' | 'uint' | 'float', value: number | bigint) {
    this.kind = kind
    this.value = value
  }
}
export type FoundValues = Json | OtherNumber

/** A failed path, with the values found before the failure. */
class Failure {
  readonly found: readonly FoundValues[]
  constructor(found: readonly FoundValues[]) {
    this.found = found
  }
}
type Outcome = readonly FoundValues[] | Failure

/** The values that a path finds, in order. Empty if the path fails. */
export function findByPath(nodes: readonly JsonPathNode[], object: Json): readonly FoundValues[] {
  const outcome = walk(nodes, [object])
  return outcome instanceof Failure ? [] : outcome
}

function walk(nodes: readonly JsonPathNode[], from: readonly FoundValues[]): Outcome {
  let values = from
  for (const node of nodes) {
    const outcome = step(node, values)
    if (outcome instanceof Failure) return outcome
    values = outcome
  }
  return values
}

function step(node: JsonPathNode, values: readonly FoundValues[]): Outcome {
  switch (node.is) {
    case 'field':
      return values.flatMap((value) =>
        isMap(value) && Object.hasOwn(value, node.name) ? [value[node.name] as Json] : [],
      )
    case 'wildcard':
      return values.flatMap(inside)
    case 'recursive':
      return recursive(values)
    case 'slice':
      return slice(node, values)
    case 'filter':
      return filter(node, values)
    case 'union':
      return union(node.lists, values)
    case 'text':
      return [node.value]
    case 'constant':
      return values.map(() => node.value)
    case 'number':
      return values.map(() => new OtherNumber(node.kind, node.value))
    case 'identifier':
      return new Failure(node.name === 'end' ? [] : values)
    case 'guarded': {
      const failed = node.rest.some((list) => walk(list, values) instanceof Failure)
      return failed ? new Failure(values) : walk(node.first, values)
    }
  }
}

const isMap = (value: FoundValues): value is { [key: string]: Json } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof OtherNumber)

/** The elements of a list or map, or the bytes of a string. */
function inside(value: FoundValues): readonly FoundValues[] {
  if (typeof value === 'string') {
    return [...Buffer.from(value)].map((byte) => new OtherNumber('uint', byte))
  }
  if (Array.isArray(value)) return value
  return isMap(value) ? Object.keys(value).map((key) => value[key] as Json) : []
}

const recursive = (values: readonly FoundValues[]): readonly FoundValues[] =>
  values.flatMap((value) => {
    if (typeof value === 'string') return value === '' ? [] : [value]
    const children = inside(value)
    return children.length === 0 ? [] : [value, ...recursive(children)]
  })

function slice(
  node: Extract<JsonPathNode, { is: 'slice' }>,
  values: readonly FoundValues[],
): Outcome {
  const found: FoundValues[] = []
  for (const value of values) {
    if (value === null) continue
    if (!Array.isArray(value)) return new Failure(values)
    const { length } = value
    let { from = 0, to = length } = node
    if (from < 0) from += length
    if (to < 0 || (to === 0 && node.single)) to += length
    // An empty range ends the evaluation and returns the values found so far.
    if (from === to) return found
    if (from < 0 || from >= length || to < 0 || to > length || from > to) return new Failure(values)
    const { step: stride = 1 } = node
    if (stride <= 0) return new Failure(values)
    for (let i = from; i < to; i += stride) found.push(value[i] as Json)
  }
  return found
}

function union(
  lists: readonly (readonly JsonPathNode[])[],
  values: readonly FoundValues[],
): Outcome {
  const found: (readonly FoundValues[])[] = []
  for (const list of lists) {
    const outcome = walk(list, values)
    if (outcome instanceof Failure) return new Failure(values)
    found.push(outcome)
  }
  return found.flat()
}

function filter(
  node: Extract<JsonPathNode, { is: 'filter' }>,
  values: readonly FoundValues[],
): Outcome {
  const found: FoundValues[] = []
  for (const value of values) {
    if (!Array.isArray(value)) return new Failure(values)
    for (const item of value) {
      const lefts = walk(node.left, [item])
      if (node.operator === 'exists') {
        if ((lefts instanceof Failure ? lefts.found : lefts).length > 0) found.push(item)
        continue
      }
      if (lefts instanceof Failure || lefts.length > 1) return new Failure(values)
      if (lefts.length === 0) continue
      const rights = walk(node.right, [item])
      if (rights instanceof Failure || rights.length > 1) return new Failure(values)
      if (rights.length === 0) continue
      const passes = compare(lefts[0] as FoundValues, rights[0] as FoundValues, node.operator)
      if (passes === undefined) return new Failure(found)
      if (passes) found.push(item)
    }
  }
  return found
}

/** Whether Go decodes a JSON number as int64. */
export const isGoInteger = (value: number): boolean =>
  Number.isSafeInteger(value) || (Number.isInteger(value) && !notInt64(BigInt(value)))

/** The type with which Go compares a value. Undefined if Go cannot compare it. */
function kindOf(value: FoundValues): 'bool' | 'int' | 'uint' | 'float' | 'string' | undefined {
  if (value instanceof OtherNumber) return value.kind
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    case 'bigint':
      return 'int'
    case 'number':
      return isGoInteger(value) ? 'int' : 'float'
    default:
      return undefined
  }
}

const isWhole = (kind: string): boolean => kind === 'int' || kind === 'uint'

/** Undefined where the two cannot be compared so. */
function compare(left: FoundValues, right: FoundValues, operator: string): boolean | undefined {
  const [a, b] = [kindOf(left), kindOf(right)]
  if (a === undefined || b === undefined) return undefined
  if (a !== b && !(isWhole(a) && isWhole(b))) return undefined
  if (a === 'bool' && operator !== '==' && operator !== '!=') return undefined
  const order = orderOf(left, right)
  switch (operator) {
    case '==':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '>':
      return order > 0
    case '<=':
      return order <= 0
    case '>=':
      return order >= 0
    default:
      return undefined
  }
}

function orderOf(left: FoundValues, right: FoundValues): number {
  if (typeof left === 'string') return byCodePoint(left, right as string)
  const [a, b] = [left, right].map((one) => (one instanceof OtherNumber ? one.value : one)) as [
    number,
    number,
  ]
  return a < b ? -1 : a > b ? 1 : 0
}
