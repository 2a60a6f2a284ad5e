/**
 * Evaluates a list of expressions for one request, with one cost budget. A variable of the policy
 * is evaluated when an expression first reads it. Its cost counts, and it has the cost limit of a
 * single expression.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { Activation } from '#cel/frame.ts'
import { CelError, isError, MapValue, type Value } from '#cel/values.ts'
import type { CompiledExpression } from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import type { RequestValues } from './request-values.ts'

/** Cost limits of one expression, of all expressions of one kind, and of all match conditions. */
const costPerCallMax = 1_000_000
export const costBudget = 10_000_000
export const conditionsBudget = 2_500_000

/** The budget is used up; no further expression is evaluated. */
export class OutOfBudget extends Error {
  constructor() {
    super(
      'validation failed due to running out of cost budget, no further validation rules will be run',
    )
  }
}

export type Evaluated = { readonly value: Value } | { readonly error: string }

/** The variables of an evaluation besides the request. */
export interface EvaluationScope {
  readonly values: RequestValues
  readonly variables: ReadonlyMap<string, CompiledExpression>
  /** Null if the policy has no parameters. */
  readonly params: Value
  readonly authorizer: boolean
  /**
   * Match conditions see neither the namespace nor the version of the resource that was matched.
   */
  readonly conditions?: boolean
}

export class Evaluation implements Activation {
  readonly #scope: EvaluationScope
  readonly #variables: Variables
  #budget: number
  #variablesCost = 0

  constructor(scope: EvaluationScope, budget: number) {
    this.#scope = scope
    this.#budget = budget
    this.#variables = new Variables(scope.variables, (name, compiled) =>
      this.#variable(name, compiled),
    )
  }

  get budget(): number {
    return this.#budget
  }

  /** Throws OutOfBudget, or PendingDecision if the authorizer is asynchronous. */
  evaluate({ text, problem, program }: CompiledExpression): Evaluated {
    if (program === undefined) return { error: `compilation error: ${problem}` }
    this.#variablesCost = 0
    const { work } = this.#scope.values
    const { value, cost } = work.run(() => program.evaluate(this, costPerCallMax))
    this.#spend(this.#variablesCost)
    this.#spend(cost)
    return isError(value)
      ? { error: `expression '${text}' resulted in error: ${value.message}` }
      : { value }
  }

  #spend(cost: number): void {
    if (cost > this.#budget) throw new OutOfBudget()
    this.#budget -= cost
  }

  #variable(name: string, { problem, program }: CompiledExpression): Value {
    const failed = (why: string) => new CelError(`composited variable ${goQuote(name)} ${why}`)
    if (program === undefined) return failed(`fails to compile: ${problem}`)
    const { value, cost } = program.evaluate(this, costPerCallMax)
    this.#variablesCost += cost
    return isError(value) ? failed(`fails to evaluate: ${value.message}`) : value
  }

  find(name: string): Value | undefined {
    const { values, params, authorizer, conditions = false } = this.#scope
    switch (name) {
      case 'object':
        return values.object
      case 'oldObject':
        return values.old
      case 'params':
        return params
      case 'request':
        return values.requestValue(!conditions)
      case 'namespaceObject':
        return conditions ? null : values.namespace
      case 'variables':
        return this.#variables
      case 'authorizer':
        return authorizer ? values.authorizer : undefined
      case 'authorizer.requestResource':
        return authorizer ? values.resourceAuthorizer : undefined
    }
    return undefined
  }
}

type EvaluateVariable = (name: string, compiled: CompiledExpression) => Value

/** The variables of a policy, each evaluated at most once. */
class Variables extends MapValue {
  readonly #compiled: ReadonlyMap<string, CompiledExpression>
  readonly #evaluate: EvaluateVariable
  readonly #known = new Map<string, Value>()

  constructor(compiled: ReadonlyMap<string, CompiledExpression>, evaluate: EvaluateVariable) {
    super()
    this.#compiled = compiled
    this.#evaluate = evaluate
  }

  get size(): number {
    return this.#compiled.size
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const compiled = this.#compiled.get(key)
    if (compiled === undefined) return undefined
    const value = this.#evaluate(key, compiled)
    this.#known.set(key, value)
    return value
  }

  keys(): Iterable<Value> {
    return this.#compiled.keys()
  }
}
