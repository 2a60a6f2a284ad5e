/**
 * Compiles a checked expression once to closures, which then run for each object.
 *
 * Costs follow cel-go: each name, each field and each index costs 1, a call costs what
 * runtime-cost.ts has for it, and constants cost nothing. `self.spec.replicas > 3` costs 3 for the
 * path and 1 for the comparison. A name or field chosen by `c ? a : b` is part of a longer path, so
 * that the name itself costs nothing.
 */
import {
  accumulatorName,
  type Call,
  type CheckedExpr,
  type Comprehension,
  type Expr,
  type MapExpr,
  type StructExpr,
} from './ast.ts'
import { ArrayList, MapBuilder } from './collections.ts'
import { literalValue } from './literal-value.ts'
import { type CallEnvironment, constantCalls, constantMembership, planCall } from './plan-call.ts'
import { PlanError } from './plan-error.ts'
import { type Path, pathStep, type Qualifier, resolvePath } from './path.ts'
import { growing, planFold } from './fold.ts'
import { type Activation, CostExceeded, EvaluationFailed, Frame, type Step } from './frame.ts'
import { constructionCost } from './runtime-cost.ts'
import { showValue } from './show-value.ts'
import { withWork } from './work.ts'
import { CelError, goTypeName, isError, Optional, TypeValue, Uint, type Value } from './values.ts'

/** What a program needs beside the expression. */
export interface ProgramEnvironment extends CallEnvironment {
  /** Makes `Object{…}` and the like. */
  makeStruct?(typeName: string, fields: ReadonlyMap<string, Value>): Value
}

export interface Outcome {
  /** An error if the evaluation failed; `costExceeded` if its cost was above the limit. */
  readonly value: Value
  readonly cost: number
}

/** The value of an evaluation that stopped because of its cost. */
export const costExceeded = new CelError('operation cancelled: actual cost limit exceeded')

export interface Program {
  evaluate(activation: Activation, limit?: number): Outcome
}

export function compileProgram(checked: CheckedExpr, environment: ProgramEnvironment): Program {
  const planner = new Planner(checked, environment)
  const step = planner.plan(checked.root)
  const slotCount = planner.slotCount
  return {
    evaluate(activation, limit = Number.POSITIVE_INFINITY) {
      const frame = new Frame(activation, limit, slotCount)
      try {
        return { value: withWork(() => step(frame)), cost: frame.cost }
      } catch (error) {
        if (error instanceof EvaluationFailed)
          return { value: new CelError(`internal error: ${error.message}`), cost: frame.cost }
        // RangeError: a value nested so deeply that a walk exhausts the stack, or a text longer
        // than a string can be.
        if (!(error instanceof RangeError || error instanceof CostExceeded)) throw error
        return { value: costExceeded, cost: frame.cost }
      }
    },
  }
}

/** A variable of a macro: where its value is, and for an accumulator how it begins. */
interface Local {
  readonly slot: number
  readonly init?: Step
}

class Planner {
  readonly #checked: CheckedExpr
  readonly #environment: ProgramEnvironment
  readonly #constants = new Map<Expr, Value | undefined>()
  #scope: ReadonlyMap<string, Local> = new Map()
  slotCount = 0

  constructor(checked: CheckedExpr, environment: ProgramEnvironment) {
    this.#checked = checked
    this.#environment = environment
  }

  plan(expr: Expr): Step {
    const constant = this.#constant(expr)
    if (constant !== undefined) return () => constant
    switch (expr.kind) {
      case 'literal':
        return () => literalValue(expr)
      case 'ident':
      case 'select':
        return pathStep(this.#path(expr))
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr.elements, new Set(expr.optionalIndices))
      case 'map':
        return this.#map(expr)
      case 'struct':
        return this.#struct(expr)
      case 'comprehension':
        return this.#comprehension(expr)
    }
  }

  /**
   * The value of an expression that has the same value for all objects, which costs nothing then.
   */
  #constant(expr: Expr): Value | undefined {
    if (!this.#constants.has(expr)) this.#constants.set(expr, this.#findConstant(expr))
    return this.#constants.get(expr)
  }

  #findConstant(expr: Expr): Value | undefined {
    if (expr.kind === 'literal') return literalValue(expr)
    const reference = this.#checked.references.get(expr.id)
    if (reference?.kind === 'ident') {
      if (reference.value !== undefined) return literalValue(reference.value)
      const type = this.#checked.types.get(expr.id)
      if (type?.kind === 'type' && !this.#scope.has(reference.name))
        return new TypeValue(type.parameters[0]?.name ?? 'type')
      return undefined
    }
    if (expr.kind === 'call') return this.#constantCall(expr)
    if (expr.kind === 'list') return this.#constantList(expr.elements, expr.optionalIndices)
    return expr.kind === 'map' ? this.#constantMap(expr) : undefined
  }

  /**
   * Conversions of constants are made once: `duration('1h')`. A conversion that fails makes no
   * program.
   */
  #constantCall(expr: Call): Value | undefined {
    if (expr.target !== undefined || expr.args.length !== 1) return undefined
    if (!constantCalls.has(expr.name)) return undefined
    const argument = this.#constant(expr.args[0] as Expr)
    if (argument === undefined) return undefined
    const step = planCall(this.#callSite(expr), [() => argument], this.#environment)
    const value = step(new Frame({ find: () => undefined }, Number.POSITIVE_INFINITY, 0))
    if (isError(value)) throw new PlanError(value.message)
    return value
  }

  #constantList(elements: readonly Expr[], optionals: readonly number[]): Value | undefined {
    const values: Value[] = []
    for (const [index, element] of elements.entries()) {
      const value = this.#constant(element)
      if (value === undefined || optionals.includes(index)) return undefined
      values.push(value)
    }
    return new ArrayList(values)
  }

  #constantMap(expr: MapExpr): Value | undefined {
    const builder = new MapBuilder()
    for (const { key, value, optional } of expr.entries) {
      const [constantKey, constantValue] = [this.#constant(key), this.#constant(value)]
      if (constantKey === undefined || constantValue === undefined || optional) return undefined
      if (builder.set(constantKey, constantValue) !== undefined) return undefined
    }
    return builder.toMap()
  }

  #callSite(expr: Call) {
    const reference = this.#checked.references.get(expr.id)
    const overloadIds = reference?.kind === 'function' ? reference.overloadIds : []
    return { name: expr.name, overloadIds }
  }

  /** A name with the fields and indices after it. */
  #path(expr: Expr): Path {
    const { showsListSize } = this.#environment
    if (this.#constant(expr) === undefined) {
      if (expr.kind === 'ident' || this.#isQualifiedName(expr))
        return {
          base: this.#variable(expr),
          baseCost: 1,
          qualifiers: [],
          isTest: false,
          showsListSize,
        }
      if (expr.kind === 'select') {
        const path = this.#path(expr.operand)
        const qualifier: Qualifier = { key: expr.field, optional: false }
        return {
          ...path,
          qualifiers: [...path.qualifiers, qualifier],
          isTest: path.isTest || expr.testOnly,
        }
      }
      if (expr.kind === 'call') {
        const path = this.#callPath(expr)
        if (path !== undefined) return path
      }
    }
    return { base: this.plan(expr), baseCost: 1, qualifiers: [], isTest: false, showsListSize }
  }

  /** `a.b` that is one variable or constant. A struct refers to its type, which is no variable. */
  #isQualifiedName(expr: Expr): boolean {
    return expr.kind === 'select' && this.#checked.references.get(expr.id)?.kind === 'ident'
  }

  /** Indexing and `c ? a : b` are parts of a path; other calls are values at its beginning. */
  #callPath(expr: Call): Path | undefined {
    const [first, second, third] = expr.args as readonly [Expr, Expr, Expr]
    const { showsListSize } = this.#environment
    if (expr.name === '_?_:_') {
      const base = this.#conditional(this.plan(first), this.#branch(second), this.#branch(third))
      return { base, baseCost: 0, qualifiers: [], isTest: false, showsListSize }
    }
    if (expr.name !== '_[_]' && expr.name !== '_[?_]' && expr.name !== '_?._') return undefined
    const path = this.#path(first)
    const qualifier: Qualifier = { key: this.#key(second), optional: expr.name !== '_[_]' }
    return { ...path, qualifiers: [...path.qualifiers, qualifier] }
  }

  #key(expr: Expr): Qualifier['key'] {
    const constant = this.#constant(expr)
    if (constant === undefined) return this.#branch(expr)
    const isKey =
      constant instanceof Uint ||
      ['string', 'bigint', 'number', 'boolean'].includes(typeof constant)
    if (!isKey) throw new PlanError(`invalid qualifier type: ${goTypeName(constant)}`)
    return constant
  }

  /** A part that is resolved without a cost for its own name. */
  #branch(expr: Expr): Step {
    if (this.#constant(expr) !== undefined || !this.#isPath(expr)) return this.plan(expr)
    const path = this.#path(expr)
    return (frame) => resolvePath(path, frame)
  }

  #isPath(expr: Expr): boolean {
    if (expr.kind === 'ident' || expr.kind === 'select') return true
    return expr.kind === 'call' && ['_?_:_', '_[_]', '_[?_]', '_?._'].includes(expr.name)
  }

  #conditional(condition: Step, truthy: Step, falsy: Step): Step {
    return (frame) => {
      const chosen = condition(frame)
      if (chosen === true) return truthy(frame)
      if (chosen === false) return falsy(frame)
      return isError(chosen) ? chosen : new CelError('no such overload')
    }
  }

  #variable(expr: Expr): Step {
    const reference = this.#checked.references.get(expr.id)
    const name =
      reference?.kind === 'ident' ? reference.name : expr.kind === 'ident' ? expr.name : ''
    const local = this.#scope.get(name)
    if (local !== undefined) return localStep(local)
    const missing = new CelError(`no such attribute(s): ${name}`)
    return (frame) => {
      const value = frame.activation.find(name)
      return value === undefined ? missing : value
    }
  }

  #call(expr: Call): Step {
    if (this.#isPath(expr)) return pathStep(this.#path(expr))
    const operands = expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    const site = this.#callSite(expr)
    if (expr.name === '@in' && site.overloadIds.length === 1 && site.overloadIds[0] === 'in_list') {
      const list = this.#constant(operands[1] as Expr)
      if (list instanceof ArrayList) {
        const membership = constantMembership(this.plan(operands[0] as Expr), list)
        if (membership !== undefined) return membership
      }
    }
    const steps = operands.map((operand) => this.plan(operand))
    const constants = operands.map((operand) => this.#constant(operand))
    return planCall({ ...site, constants }, steps, this.#environment)
  }

  #list(elements: readonly Expr[], optionals: ReadonlySet<number>): Step {
    const steps = elements.map((element) => this.plan(element))
    return (frame) => {
      const values: Value[] = []
      for (let index = 0; index < steps.length; index += 1) {
        const value = (steps[index] as Step)(frame)
        if (isError(value)) return value
        if (!optionals.has(index)) values.push(value)
        else if (!(value instanceof Optional))
          return new CelError(
            `cannot initialize optional list element from non-optional value ${showValue(value)}`,
          )
        else if (value.value !== undefined) values.push(value.value)
      }
      frame.spend(constructionCost.list)
      return new ArrayList(values)
    }
  }

  #map(expr: MapExpr): Step {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }))
    return (frame) => {
      const builder = new MapBuilder()
      for (const entry of entries) {
        const key = entry.key(frame)
        if (isError(key)) return key
        const value = entry.value(frame)
        if (isError(value)) return value
        const present = entry.optional ? optionalEntry(showValue(key), value) : value
        if (present instanceof CelError) return present
        const problem = present === undefined ? undefined : builder.set(key, present)
        if (problem !== undefined) return problem
        if (present === undefined) builder.remove(key)
      }
      frame.spend(constructionCost.map)
      return builder.toMap()
    }
  }

  #struct(expr: StructExpr): Step {
    const { typeName } = expr
    const fields = expr.fields.map(({ name, value, optional }) => ({
      name,
      value: this.plan(value),
      optional,
    }))
    const make = this.#environment.makeStruct?.bind(this.#environment)
    if (make === undefined) throw new PlanError(`unknown type: ${typeName}`)
    return (frame) => {
      const values = new Map<string, Value>()
      for (const field of fields) {
        const value = field.value(frame)
        if (isError(value)) return value
        const present = field.optional ? optionalEntry(field.name, value) : value
        if (present instanceof CelError) return present
        if (present !== undefined) values.set(field.name, present)
      }
      frame.spend(constructionCost.struct)
      return make(typeName, values)
    }
  }

  #comprehension(expr: Comprehension): Step {
    const outer = this.#scope
    const range = this.plan(expr.iterRange)
    const init = this.plan(expr.accuInit)
    const grows = expr.accuVar === accumulatorName
    const accu = { slot: this.#takeSlot(), init: grows ? growing(init) : init }
    const first = { slot: this.#takeSlot() }
    const second = expr.iterVar2 === undefined ? undefined : { slot: this.#takeSlot() }
    const withAccu = new Map([...outer, [expr.accuVar, accu] as const])
    this.#scope = new Map([...withAccu, [expr.iterVar, first] as const])
    if (second !== undefined)
      this.#scope = new Map([...this.#scope, [expr.iterVar2 as string, second] as const])
    const condition = this.plan(expr.loopCondition)
    const step = this.plan(expr.loopStep)
    this.#scope = withAccu
    const result = this.plan(expr.result)
    this.#scope = outer
    return planFold({
      ...{ range, condition, step, result },
      accuSlot: accu.slot,
      firstSlot: first.slot,
      secondSlot: second?.slot,
    })
  }

  /**
   * No slot is used twice: an accumulator begins when it is first read, which may be inside another
   * macro.
   */
  #takeSlot(): number {
    this.slotCount += 1
    return this.slotCount - 1
  }
}

const localStep = ({ slot, init }: Local): Step =>
  init === undefined
    ? (frame) => frame.slots[slot] as Value
    : (frame) => {
        const value = frame.slots[slot]
        if (value !== undefined) return value
        const first = init(frame)
        frame.slots[slot] = first
        return first
      }

/** The value of an optional entry, undefined if it has none, or an error. */
function optionalEntry(field: string, value: Value): Value | undefined {
  if (value instanceof Optional) return value.value
  return new CelError(
    `cannot initialize optional entry '${field}' from non-optional value ${showValue(value)}`,
  )
}
