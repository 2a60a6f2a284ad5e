/**
 * Names with fields and indices: `self.spec.ports[0].?name`. Resolved as one, because an optional
 * step makes the rest of the path optional: `self.?spec.replicas` is `optional.none()` when there
 * is no spec.
 */
import { ArrayList } from './collections.ts'
import type { Frame, Step } from './frame.ts'
import { showValue } from './show-value.ts'
import {
  CelError,
  isError,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  typeName,
  Uint,
  type Value,
} from './values.ts'

export interface Qualifier {
  /** A constant key, or what computes one. */
  readonly key: Value | Step
  /** `.?field` and `[?key]` */
  readonly optional: boolean
}

export interface Path {
  readonly base: Step
  /** A name costs 1; `c ? a : b` costs nothing by itself. */
  readonly baseCost: number
  readonly qualifiers: readonly Qualifier[]
  /** `has(a.b)`: the last qualifier is only looked up. */
  readonly isTest: boolean
  /** An index beyond a list that an expression made is shown with the size of the list. */
  readonly showsListSize: boolean
}

/** The step of a whole path. A test does not pay for its base. */
export function pathStep(path: Path): Step {
  const cost = path.isTest ? path.baseCost - 1 : path.baseCost
  if (path.qualifiers.length === 0)
    return (frame) => {
      frame.spend(cost)
      return path.base(frame)
    }
  return (frame) => {
    const value = resolvePath(path, frame)
    frame.spend(cost)
    return value
  }
}

export function resolvePath(path: Path, frame: Frame): Value {
  const { qualifiers, isTest } = path
  let value = path.base(frame)
  if (isError(value)) return value
  let isOptional = false
  if (value instanceof Optional) {
    if (value.value === undefined) return isTest ? false : value
    isOptional = true
    value = value.value
  }
  for (let index = 0; index < qualifiers.length; index += 1) {
    const { key, optional } = qualifiers[index] as Qualifier
    const known = typeof key === 'function' ? key(frame) : key
    if (isError(known)) return known
    const lookedUp = isTest && index === qualifiers.length - 1
    if (optional) isOptional = true
    const found = lookUp(value, known, lookedUp || isOptional)
    if (lookedUp) {
      frame.spend(1)
      return isError(found as Value) ? (found as Value) : found !== undefined
    }
    if (found === undefined) {
      if (isOptional) return isTest ? false : Optional.none
      frame.spend(1)
      return missing(value, known, path.showsListSize)
    }
    frame.spend(1)
    if (isError(found)) return found
    value = found
  }
  return isOptional ? new Optional(value) : value
}

/**
 * The value at a key, undefined if there is none, or an error. `ifSet`: the default of a field does
 * not count.
 */
function lookUp(value: Value, key: Value, ifSet: boolean): Value | undefined {
  if (value instanceof MapValue) return value.find(key)
  if (value instanceof ListValue) {
    const index = listIndex(key)
    if (typeof index !== 'number') return index
    if (index < 0 || index >= value.size) return undefined
    return value.indexProblem?.(key) ?? value.at(index)
  }
  if (value instanceof StructValue) {
    if (typeof key !== 'string' || (ifSet && !value.has(key))) return undefined
    return value.find(key)
  }
  return undefined
}

function missing(value: Value, key: Value, showsListSize: boolean): CelError {
  const text = showValue(key)
  if (showsListSize && value instanceof ArrayList)
    return new CelError(`index '${text}' out of range in list size '${value.size}'`)
  return new CelError(
    value instanceof ListValue ? `index out of bounds: ${text}` : `no such key: ${text}`,
  )
}

/** The index that a number is, or an error. Numbers that are no whole ones index nothing. */
function listIndex(key: Value): number | CelError {
  if (typeof key === 'bigint') return Number(key)
  if (key instanceof Uint) return Number(key.value)
  if (typeof key === 'number') {
    if (Number.isInteger(key)) return key
    return new CelError(`unsupported index value ${showValue(key)} in list`)
  }
  return new CelError(`unsupported index type '${typeName(key)}' in list`)
}
