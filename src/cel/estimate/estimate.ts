/**
 * The least and the most that an expression can cost, before it runs. Sizes of data come from its
 * schema: a string with maxLength 10 has at most 40 bytes. The walk is cel-go's, with all its
 * peculiarities: definitions are rejected by the result.
 *
 *   self.items.all(i, i > 0)      items with maxItems 5
 *   range 2 + 5 × (loop 2 + step 3) + result 1 → at most 28
 */
import {
  accumulatorName,
  type Call,
  type CheckedExpr,
  type Comprehension,
  type Expr,
  type ListExpr,
  type MapExpr,
  type Select,
} from '#cel/ast.ts'
import type { CelType } from '#cel/cel-type.ts'
import { codePoints, constructionCost } from '#cel/runtime-cost.ts'
import {
  type EstimateRules,
  estimateCall,
  type Operand,
  regexEstimate,
  type SizeOf,
} from './call-estimate.ts'
import {
  add,
  emptyRange,
  fixed,
  multiply,
  one,
  type Range,
  scale,
  toUint64,
  union,
  unknownRange,
  wrapped,
  zero,
} from './range.ts'

const traversalFactor = 0.1
/** The accumulator of cel-go before it had a name that no expression can write. */
const olderAccumulatorName = '__result__'

/** The sizes of the keys and values of a list or map. */
interface EntrySize {
  readonly container: 'list' | 'map'
  readonly key: Range
  readonly value: Range
}

/** A variable of a macro. */
interface LocalVariable {
  readonly path: readonly string[]
  readonly size: Range | undefined
  readonly entries: EntrySize | undefined
}

const unionOfEntries = (
  a: EntrySize | undefined,
  b: EntrySize | undefined,
): EntrySize | undefined =>
  a === undefined || b === undefined
    ? undefined
    : { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) }

const scalarKinds: ReadonlySet<string> = new Set([
  ...['bool', 'double', 'duration', 'int', 'timestamp', 'uint'],
])

/** Types whose values always have the size 1. */
function isScalar({ kind, name, parameters }: CelType): boolean {
  if (kind === 'opaque') return name === 'optional_type' && isScalar(parameters[0] as CelType)
  return scalarKinds.has(kind)
}

/** The size that the expression itself shows. */
function sizeShown(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case 'literal':
      if (expr.type === 'string') return fixed(codePoints(expr.value))
      return fixed(expr.type === 'bytes' ? expr.value.length : 1)
    case 'list':
      return fixed(expr.elements.length)
    case 'map':
      return fixed(expr.entries.length)
  }
  return undefined
}

/** A macro that only binds a variable: a loop that never runs. */
const isBinding = ({ iterRange, loopCondition, accuVar }: Comprehension): boolean =>
  iterRange.kind === 'list' &&
  iterRange.elements.length === 0 &&
  loopCondition.kind === 'literal' &&
  loopCondition.value === false &&
  accuVar !== accumulatorName

class Estimator {
  readonly #checked: CheckedExpr
  readonly #sizeOf: SizeOf
  readonly #rules: EstimateRules
  readonly #paths = new Map<number, readonly string[]>()
  readonly #sizes = new Map<number, Range>()
  readonly #entries = new Map<number, EntrySize>()
  readonly #locals = new Map<string, LocalVariable[]>()

  constructor(checked: CheckedExpr, sizeOf: SizeOf, rules: EstimateRules) {
    this.#rules = rules
    this.#checked = checked
    this.#sizeOf = sizeOf
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return zero
      case 'ident':
        this.#paths.set(expr.id, this.#local(expr.name)?.path ?? [expr.name])
        return one
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return expr.fields.reduce(
          (sum, { value }) => add(sum, this.cost(value)),
          fixed(constructionCost.struct),
        )
      case 'comprehension':
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr)
    }
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, variable: LocalVariable): void {
    const known = this.#locals.get(name)
    if (known === undefined) this.#locals.set(name, [variable])
    else known.push(variable)
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop()
  }

  #typeOf({ id }: Expr): CelType | undefined {
    return this.#checked.types.get(id)
  }

  #path(expr: Expr): readonly string[] {
    const local = expr.kind === 'ident' ? this.#local(expr.name) : undefined
    return local?.path ?? this.#paths.get(expr.id) ?? []
  }

  /** `has(a.b)` costs what `a` costs. */
  #select(expr: Select): Range {
    const cost = this.cost(expr.operand)
    if (expr.testOnly) return cost
    this.#paths.set(expr.id, [...this.#path(expr.operand), expr.field])
    const kind = this.#typeOf(expr.operand)?.kind
    return kind === 'map' || kind === 'struct' || kind === 'param' ? add(cost, one) : cost
  }

  #list(expr: ListExpr): Range {
    let cost = zero
    let value = expr.elements.length === 0 ? zero : emptyRange
    for (const element of expr.elements) {
      cost = add(cost, this.cost(element))
      value = union(value, this.#sizeOrUnknown(element))
    }
    this.#setEntries(expr, { container: 'list', key: one, value })
    return add(cost, fixed(constructionCost.list))
  }

  #map(expr: MapExpr): Range {
    let cost = zero
    let keys = expr.entries.length === 0 ? zero : emptyRange
    let values = keys
    for (const { key, value } of expr.entries) {
      cost = add(add(cost, this.cost(key)), this.cost(value))
      keys = union(keys, this.#sizeOrUnknown(key))
      values = union(values, this.#sizeOrUnknown(value))
    }
    this.#setEntries(expr, { container: 'map', key: keys, value: values })
    return add(cost, fixed(constructionCost.map))
  }

  #comprehension(expr: Comprehension): Range {
    const { iterRange, iterVar, iterVar2, accuVar, accuInit } = expr
    let cost = add(this.cost(iterRange), this.cost(accuInit))
    this.#pushAccumulator(accuVar, accuInit)
    this.#push(iterVar, this.#element(iterRange, iterVar2 === undefined ? 'single' : 'key'))
    if (iterVar2 !== undefined) this.#push(iterVar2, this.#element(iterRange, 'value'))
    const condition = this.cost(expr.loopCondition)
    const step = this.cost(expr.loopStep)
    this.#pop(iterVar)
    if (iterVar2 !== undefined) this.#pop(iterVar2)
    cost = add(cost, this.cost(expr.result))
    this.#pop(accuVar)
    const count = this.#sizeOrUnknown(iterRange)
    cost = add(cost, multiply(count, add(step, condition)))
    if (!this.#rules.knowsResults) return cost
    if (accuInit.kind === 'literal') this.#setSize(expr, this.#size(accuInit))
    else if (accuInit.kind === 'list' || accuInit.kind === 'map') {
      this.#setSize(expr, count)
      this.#setEntries(expr, this.#entriesOf(expr.loopStep))
    }
    return cost
  }

  #pushAccumulator(name: string, init: Expr): void {
    const size = this.#rules.knowsElements ? this.#size(init) : undefined
    this.#push(name, { path: this.#path(init), size, entries: this.#entriesOf(init) })
  }

  /**
   * What a variable of a loop is: an element of a list, a key of a map, or one of two variables.
   */
  #element(range: Expr, role: 'single' | 'key' | 'value'): LocalVariable {
    const entries = this.#entriesOf(range)
    const isList = (entries?.container ?? this.#typeOf(range)?.kind) === 'list'
    const isValue = role === 'value' || (role === 'single' && isList)
    const step = isValue ? (isList ? '@items' : '@values') : isList ? '@indices' : '@keys'
    const size = isValue ? entries?.value : entries?.key
    return { path: [...this.#path(range), step], size, entries: undefined }
  }

  #binding(expr: Comprehension): Range {
    const cost = add(this.cost(expr.iterRange), this.cost(expr.accuInit))
    this.#pushAccumulator(expr.accuVar, expr.accuInit)
    const result = this.cost(expr.result)
    this.#pop(expr.accuVar)
    this.#setSize(expr, this.#size(expr.result))
    this.#setEntries(expr, this.#entriesOf(expr.result))
    return add(cost, result)
  }

  #call(expr: Call): Range {
    if (expr.name === 'dyn') {
      const argument = expr.args[0] as Expr
      const cost = this.cost(argument)
      this.#setSize(expr, this.#size(argument))
      this.#setEntries(expr, this.#entriesOf(argument))
      return add(cost, one)
    }
    const argCosts = expr.args.map((arg) => this.cost(arg))
    const args = expr.args.map((arg) => this.#operand(arg))
    const reference = this.#checked.references.get(expr.id)
    if (reference?.kind !== 'function' || reference.overloadIds.length === 0) return zero
    const { target } = expr
    const sum = target === undefined ? zero : this.cost(target)
    const targetOperand = target === undefined ? undefined : this.#operand(target)
    let cost = emptyRange
    let size: Range | undefined
    for (const overloadId of reference.overloadIds) {
      const one = this.#overload(expr, overloadId, targetOperand, args, argCosts)
      cost = union(cost, one.cost)
      if (one.size !== undefined) size = size === undefined ? one.size : union(size, one.size)
      if (overloadId === 'index_list' || overloadId === 'index_map') {
        const container = expr.args[0] as Expr
        size = this.#entriesOf(container)?.value
        const step = overloadId === 'index_list' ? '@items' : '@values'
        this.#paths.set(expr.id, [...this.#path(container), step])
      }
      size ??= this.#size(expr)
    }
    this.#setSize(expr, size)
    return add(sum, cost)
  }

  #operand(expr: Expr): Operand {
    const path = this.#path(expr)
    const [first] = path
    const isAccumulator = first === accumulatorName || first === olderAccumulatorName
    return {
      type: this.#typeOf(expr) as CelType,
      path: isAccumulator ? [] : path,
      size: this.#size(expr),
      expr,
    }
  }

  #overload(
    expr: Call,
    overloadId: string,
    target: Operand | undefined,
    args: readonly Operand[],
    argCosts: readonly Range[],
  ): { cost: Range; size?: Range } {
    const sum = () => argCosts.reduce(add, zero)
    const sizeOf = this.#sizeOf
    const rules = this.#rules
    const ruled = estimateCall({ name: expr.name, overloadId, target, args, sizeOf, rules })
    if (ruled !== undefined) return { ...ruled, cost: add(ruled.cost, sum()) }
    const [left = zero, right = zero, third = zero] = argCosts
    if (overloadId === 'logical_and' || overloadId === 'logical_or')
      return { cost: { min: left.min, max: add(left, right).max } }
    if (overloadId === 'conditional') {
      const [, yes, no] = args as readonly [Operand, Operand, Operand]
      const entries = unionOfEntries(
        this.#entriesOf(yes.expr as Expr),
        this.#entriesOf(no.expr as Expr),
      )
      this.#setEntries(expr, entries)
      const size = union(yes.size ?? unknownRange, no.size ?? unknownRange)
      return { cost: add(left, union(right, third)), size }
    }
    if (addsSizes.has(overloadId) && args.length === 2) {
      const [a, b] = args as readonly [Operand, Operand]
      const size = add(a.size ?? unknownRange, b.size ?? unknownRange)
      this.#setEntries(
        expr,
        unionOfEntries(this.#entriesOf(a.expr as Expr), this.#entriesOf(b.expr as Expr)),
      )
      const own = overloadId === 'add_list' ? one : scale(size, traversalFactor)
      return { cost: add(own, sum()), size }
    }
    const standard = standardCost(overloadId, target, args)
    return { ...standard, cost: add(standard.cost, sum()) }
  }

  #setSize({ id }: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(id, size)
  }

  #setEntries({ id }: Expr, entries: EntrySize | undefined): void {
    if (entries !== undefined && this.#rules.knowsElements) this.#entries.set(id, entries)
  }

  #sizeOrUnknown(expr: Expr): Range {
    return this.#size(expr) ?? unknownRange
  }

  #size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? sizeShown(expr)
    if (known !== undefined) return known
    const type = this.#typeOf(expr) as CelType
    const declared = this.#sizeOf({ path: this.#path(expr), type })
    if (declared !== undefined) {
      this.#sizes.set(expr.id, declared)
      return declared
    }
    if (type !== undefined && isScalar(type)) return one
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined
  }

  #entriesOf(expr: Expr): EntrySize | undefined {
    const known = this.#entries.get(expr.id)
    if (known !== undefined) return known
    return expr.kind === 'ident' ? this.#local(expr.name)?.entries : undefined
  }
}

const addsSizes: ReadonlySet<string> = new Set(['add_string', 'add_bytes', 'add_list'])

const ofSmaller: ReadonlySet<string> = new Set([
  ...['equals', 'not_equals'],
  ...['less', 'greater', 'less_equals', 'greater_equals'].flatMap((verb) => [
    `${verb}_string`,
    `${verb}_bytes`,
  ]),
])

/** The cost of a standard function without that of its operands. */
function standardCost(
  overloadId: string,
  target: Operand | undefined,
  args: readonly Operand[],
): { cost: Range; size?: Range } {
  const [first, second] = args.map(({ size }) => size ?? unknownRange)
  const receiver = target === undefined ? undefined : (target.size ?? unknownRange)
  const traverse = (size: Range) => scale(size, traversalFactor)
  if (ofSmaller.has(overloadId) && first !== undefined && second !== undefined) {
    const max = Math.min(first.max, second.max)
    return { cost: traverse({ min: max > 0 ? 1 : 0, max }) }
  }
  switch (overloadId) {
    case 'string_format':
      if (receiver !== undefined) return { cost: traverse(receiver) }
      break
    case 'string_to_bytes':
      if (first !== undefined)
        return {
          cost: traverse(first),
          size: { min: first.min, max: wrapped(toUint64(first.max) * 4n) },
        }
      break
    case 'bytes_to_string':
      if (first !== undefined)
        return { cost: traverse(first), size: { min: Math.floor(first.min / 4), max: first.max } }
      break
    case 'strings_quote':
      if (first !== undefined)
        return {
          cost: traverse(first),
          size: { min: first.min + 2, max: wrapped(toUint64(first.max) * 2n + 2n) },
        }
      break
    case 'starts_with_string':
    case 'ends_with_string':
      if (first !== undefined) return { cost: traverse(first) }
      break
    case 'in_list':
      if (second !== undefined) return { cost: second }
      break
    case 'matches_string':
      if (receiver !== undefined && first !== undefined)
        return { cost: regexEstimate(receiver, first) }
      break
    case 'matches':
      if (first !== undefined && second !== undefined) return { cost: regexEstimate(first, second) }
      break
    case 'contains_string':
      if (receiver !== undefined && first !== undefined)
        return { cost: multiply(traverse(receiver), traverse(first)) }
  }
  return { cost: one }
}

/** The cost of an expression. `sizeOf` knows the sizes of the data that its variables hold. */
export const estimateCost = (checked: CheckedExpr, sizeOf: SizeOf, rules: EstimateRules): Range =>
  new Estimator(checked, sizeOf, rules).cost(checked.root)
