/**
 * Evaluates the match conditions of a policy or webhook. All must be true; a false condition takes
 * precedence over errors.
 */
import type { CompiledExpression } from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import type { ConditionsRun, PolicyMeter } from './policy-meter.ts'
import { conditionsBudget, Evaluation, type EvaluationScope, OutOfBudget } from './evaluation.ts'

export interface ConditionsResult {
  readonly matches: boolean
  /** Number of conditions that failed before the first false one. */
  readonly errors: number
  /**
   * Why the result is unknown. Set only if the failure policy is Fail: the caller then rejects the
   * request. With Ignore, the conditions count as false.
   */
  readonly error?: string
}

/** `failsOpen`: the failure policy is Ignore. Throws PendingDecision. */
export function meetsConditions(
  conditions: readonly CompiledExpression[],
  scope: Omit<EvaluationScope, 'conditions' | 'authorizer'>,
  failsOpen: boolean,
): ConditionsResult {
  const evaluation = new Evaluation(
    { ...scope, authorizer: true, conditions: true },
    conditionsBudget,
  )
  const errors: string[] = []
  let isFalse = false
  let errorsBefore = 0
  try {
    for (const condition of conditions) {
      const result = evaluation.evaluate(condition)
      if ('error' in result) {
        errors.push(result.error)
        if (!isFalse) errorsBefore++
      } else if (result.value === false) isFalse = true
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return { matches: false, errors: 0, ...(!failsOpen && { error: error.message }) }
  }
  if (isFalse) return { matches: false, errors: errorsBefore }
  if (errors.length === 0) return { matches: true, errors: 0 }
  return { matches: false, errors: errorsBefore, ...(!failsOpen && { error: aggregate(errors) }) }
}

type Owner = Pick<ConditionsRun, 'name' | 'kind' | 'type' | 'operation'>

/** Evaluates and measures match conditions. `owner` is the webhook or policy that has them. */
export function measureConditions(
  meter: PolicyMeter,
  owner: Owner,
  conditions: readonly CompiledExpression[],
  scope: Omit<EvaluationScope, 'conditions' | 'authorizer'>,
  failsOpen: boolean,
): ConditionsResult {
  const began = meter.monotonicMs()
  scope.values.useTypes()
  const result = meetsConditions(conditions, scope, failsOpen)
  const { matches, errors, error } = result
  const tookMs = meter.monotonicMs() - began
  const excludes = owner.kind === 'webhook' && !matches && error === undefined
  meter.conditions({ ...owner, tookMs, errors, excludes })
  return result
}

/** Joins errors like Go's aggregate: without duplicates, and in brackets if there are several. */
function aggregate(errors: readonly string[]): string {
  const [first, ...rest] = new Set(errors)
  return rest.length === 0 ? (first as string) : `[${[first, ...rest].join(', ')}]`
}
