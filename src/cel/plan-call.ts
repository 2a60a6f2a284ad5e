/**
 * Calls of functions. The checker names the overloads that can apply. If there is one, its
 * implementation is called directly, behind a check of the types at run time. Otherwise the types
 * of the arguments decide. Operators and a few functions have one implementation for all types,
 * which decides by itself.
 */
import type { CelType, Overload } from './cel-type.ts'
import { ArrayList, type EntryMap, mapOfEntries } from './collections.ts'
import { EvaluationFailed, type Step } from './frame.ts'
import { equal } from './equality.ts'
import { costRule } from './runtime-cost.ts'
import {
  CelError,
  Duration,
  isError,
  ListValue,
  MapValue,
  Optional,
  overloadError,
  Timestamp,
  typeName,
  Uint,
  type Value,
} from './values.ts'
import { chargeList, chargeText, chargeRead } from './work.ts'

/** What an overload does. Arguments that it does not have are undefined. */
export type Implementation = (a: Value, b: Value, c: Value, d: Value) => Value

/** One implementation for all overloads of a function. */
export interface SingleImplementation {
  readonly call: Implementation
  /** Whether the first argument's type knows the function at all. */
  readonly accepts?: (first: Value) => boolean
}

export interface CallEnvironment {
  /** Errors name the types of the arguments that no overload takes. */
  readonly namesTypes: boolean
  /** An index beyond a list that an expression made is shown with the size of the list. */
  readonly showsListSize: boolean
  /** All overloads of a function, for arguments of type dyn. */
  overloadsOf(name: string): readonly Overload[]
  readonly implementations: ReadonlyMap<string, Implementation>
  readonly singleImplementations: ReadonlyMap<string, SingleImplementation>
  /** Prepares a call whose arguments are constants in part, such as a pattern. */
  readonly prepared: ReadonlyMap<
    string,
    (constants: readonly (Value | undefined)[]) => Implementation | undefined
  >
}

export interface CallSite {
  readonly name: string
  /** The overloads that the checker found possible. */
  readonly overloadIds: readonly string[]
  /** The arguments that are constants. */
  readonly constants?: readonly (Value | undefined)[]
}

/** Conversions, which are made once where the argument is a constant. */
export const constantCalls: ReadonlySet<string> = new Set([
  ...['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint'],
])

export function planCall(
  site: CallSite,
  args: readonly Step[],
  environment: CallEnvironment,
): Step {
  switch (site.name) {
    case '_&&_':
      return planLogical(args, false)
    case '_||_':
      return planLogical(args, true)
    case '_==_':
      return planEquality(args, true)
    case '_!=_':
      return planEquality(args, false)
    case '@not_strictly_false':
      return planNotStrictlyFalse(args)
  }
  if (args.length === 2 && site.name === 'or' && isAny(site, 'optional_or_optional'))
    return planOr(args, false)
  if (args.length === 2 && site.name === 'orValue' && isAny(site, 'optional_orValue_value'))
    return planOr(args, true)
  const comparesLists = comparesElements.has(site.name) && site.overloadIds.length === 1
  const operands = comparesLists ? args.map(requireValue) : args
  return planStrict(site, operands, callOf(site, args.length, environment))
}

/**
 * Functions whose cost in kube-apiserver depends on operands that must be lists, even if one is an
 * error. It is counted by overload: not if types leave several possible.
 */
const comparesElements: ReadonlySet<string> = new Set(['distinct', 'sort', '@sortByAssociatedKeys'])

const requireValue =
  (operand: Step): Step =>
  (frame) => {
    const value = operand(frame)
    if (!isError(value)) return value
    const found = '*types.Err is not traits.Lister: missing method Add'
    throw new EvaluationFailed(`interface conversion: ${found}`)
  }

const isAny = ({ overloadIds }: CallSite, id: string): boolean =>
  overloadIds.length !== 1 || overloadIds[0] === id

/** `&&` and `||`: an operand that decides the result hides errors of the others. */
function planLogical(args: readonly Step[], decisive: boolean): Step {
  return (frame) => {
    let problem: CelError | undefined
    for (let index = 0; index < args.length; index += 1) {
      const value = (args[index] as Step)(frame)
      if (value === decisive) return decisive
      if (typeof value !== 'boolean') problem ??= overloadError(value)
    }
    return problem ?? !decisive
  }
}

function planEquality([left, right]: readonly Step[], expected: boolean): Step {
  const rule = costRule(expected ? '_==_' : '_!=_', expected ? 'equals' : 'not_equals')
  return (frame) => {
    const a = (left as Step)(frame)
    const b = (right as Step)(frame)
    frame.spend(rule.cost(a, b, true))
    if (isError(a)) return a
    if (isError(b)) return b
    const same = equal(a, b)
    if (expected) return same
    return same !== true
  }
}

/** Macros call it, so that an error in one element does not end `exists`. */
function planNotStrictlyFalse([operand]: readonly Step[]): Step {
  return (frame) => {
    const value = (operand as Step)(frame)
    frame.spend(1)
    return typeof value === 'boolean' ? value : true
  }
}

/** `a.or(b)` and `a.orValue(b)`: b is read only if a has no value. Neither costs anything. */
function planOr([left, right]: readonly Step[], unwraps: boolean): Step {
  return (frame) => {
    const first = (left as Step)(frame)
    if (isError(first)) return first
    if (!(first instanceof Optional)) return overloadError()
    if (first.value === undefined) return (right as Step)(frame)
    return unwraps ? first.value : first
  }
}

/** Counts what a call has made. */
function made(value: Value): Value {
  if (typeof value === 'string') chargeText(value.length)
  else if (value instanceof ArrayList) chargeList(value.size)
  else if (value instanceof Uint8Array) chargeText(value.length)
  return value
}

/** Counts what a call reads: with arguments of type dyn, no cost depends on their size. */
function read(value: Value): void {
  if (typeof value === 'string') chargeRead(4 * value.length)
}

function planStrict(site: CallSite, args: readonly Step[], call: Implementation): Step {
  const id = site.overloadIds.length === 1 ? (site.overloadIds[0] as string) : ''
  const { cost, readsResult } = costRule(site.name, id)
  const absent = undefined as unknown as Value
  if (args.length === 1) {
    const [operand] = args as readonly [Step]
    return (frame) => {
      const a = operand(frame)
      read(a)
      if (readsResult === undefined) frame.spend(cost(a, absent, absent))
      const result = isError(a) ? a : made(call(a, absent, absent, absent))
      if (readsResult) frame.spend(cost(a, absent, result))
      return result
    }
  }
  if (args.length === 2) {
    const [left, right] = args as readonly [Step, Step]
    return (frame) => {
      const a = left(frame)
      const b = right(frame)
      read(a)
      read(b)
      if (readsResult === undefined) frame.spend(cost(a, b, absent))
      const result = isError(a) ? a : isError(b) ? b : made(call(a, b, absent, absent))
      if (readsResult) frame.spend(cost(a, b, result))
      return result
    }
  }
  return (frame) => {
    const values: Value[] = []
    for (const arg of args) {
      const value = arg(frame)
      if (isError(value)) return value
      read(value)
      values.push(value)
    }
    const [a, b, c, d] = values as [Value, Value, Value, Value]
    if (readsResult === undefined) frame.spend(cost(a, b, absent))
    const result = made(call(a, b, c, d))
    if (readsResult) frame.spend(cost(a, b, result))
    return result
  }
}

function callOf(site: CallSite, count: number, environment: CallEnvironment): Implementation {
  const { name, overloadIds } = site
  const prepared = environment.prepared.get(name)?.(site.constants ?? [])
  if (prepared !== undefined) return prepared
  const single = environment.singleImplementations.get(name)
  if (single !== undefined) return singleCall(name, single)
  const overloads = environment.overloadsOf(name).filter(({ params }) => params.length === count)
  const [only] = overloadIds
  const declared = overloadIds.length === 1 ? overloads.filter(({ id }) => id === only) : overloads
  const candidates = declared.flatMap(({ id, params }) => {
    const implementation = environment.implementations.get(id)
    return implementation === undefined ? [] : [{ params, implementation }]
  })
  return (a, b, c, d) => {
    for (const { params, implementation } of candidates)
      if (accepts(params, a, b, c, d)) return implementation(a, b, c, d)
    if (sortsLists.has(name)) return unsorted(a)
    if (checksItself.has(name) && environment.namesTypes) return overloadError()
    return noOverload(name, environment.namesTypes ? [a, b, c, d].slice(0, count) : undefined)
  }
}

function singleCall(name: string, { call, accepts: knows }: SingleImplementation): Implementation {
  if (knows === undefined) return call
  const unknown = new CelError(`no such overload: ${name}`)
  return (a, b, c, d) => {
    if (knows(a)) return call(a, b, c, d)
    // Strings, durations and timestamps receive calls in cel-go, and answer with the short text.
    return receives(a) ? overloadError() : unknown
  }
}

/** Functions that cel-go calls with any types, and that answer with the short text. */
const checksItself: ReadonlySet<string> = new Set(['contains', 'endsWith', 'startsWith'])

/** Functions that cel-go calls with any list, and that name no types for other arguments. */
const sortsLists: ReadonlySet<string> = new Set(['sort', '@sortByAssociatedKeys'])

const receives = (value: Value): boolean =>
  typeof value === 'string' || value instanceof Duration || value instanceof Timestamp

function unsorted(value: Value): CelError {
  if (value instanceof ListValue) return new CelError('list elements must be comparable')
  return receives(value) ? overloadError() : new CelError('no such overload: sort')
}

const noOverload = (name: string, args: readonly Value[] | undefined): CelError =>
  new CelError(
    `no such overload: ${name}${args === undefined ? '' : `(${args.map(typeName).join(', ')})`}`,
  )

function accepts(params: readonly CelType[], a: Value, b: Value, c: Value, d: Value): boolean {
  const [first, second, third, fourth] = params
  return (
    (first === undefined || isRuntimeType(first, a)) &&
    (second === undefined || isRuntimeType(second, b)) &&
    (third === undefined || isRuntimeType(third, c)) &&
    (fourth === undefined || isRuntimeType(fourth, d))
  )
}

/**
 * Whether a value can be an argument. Only the first element of a list or map is checked, as in
 * cel-go.
 */
function isRuntimeType(type: CelType, value: Value): boolean {
  if (type.nullable && value === null) return true
  switch (type.kind) {
    case 'any':
    case 'dyn':
    case 'param':
      return true
    case 'string':
      return typeof value === 'string'
    case 'int':
      return typeof value === 'bigint'
    case 'list':
      return (
        value instanceof ListValue &&
        (value.size === 0 || isRuntimeType(type.parameters[0] as CelType, value.at(0)))
      )
    case 'map':
      return value instanceof MapValue && isRuntimeMap(type, value)
  }
  return typeName(value) === type.name
}

function isRuntimeMap({ parameters: [keyType, valueType] }: CelType, map: MapValue): boolean {
  for (const key of map.keys())
    return (
      isRuntimeType(keyType as CelType, key) &&
      isRuntimeType(valueType as CelType, map.find(key) as Value)
    )
  return true
}

/**
 * `x in ['a', 'b']` with constants: a set, which costs nothing. Undefined if the list has other
 * values.
 */
export function constantMembership(operand: Step, list: ArrayList): Step | undefined {
  const primitive = (value: Value) => typeof value !== 'object' || value instanceof Uint
  if (!list.elements.every(primitive)) return undefined
  if (list.size === 0) return () => false
  const members: EntryMap = mapOfEntries(list.elements.map((element) => [element, true]))
  return (frame) => {
    const value = operand(frame)
    return isError(value) ? value : members.find(value) !== undefined
  }
}
