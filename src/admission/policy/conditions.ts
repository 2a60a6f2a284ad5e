/** Whether the match conditions of a policy or webhook hold: all must be true, and one that is false decides. */
import type { CompiledExpression } from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import { conditionsBudget, Evaluation, type EvaluationScope, OutOfBudget } from './evaluation.ts'

export interface ConditionsResult {
  readonly matches: boolean
  /** Why it is not known whether they hold; the failure policy decided that they do not. */
  readonly error?: string
}

/** `failsOpen`: a condition with an error does not hold. Throws PendingDecision. */
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
  try {
    for (const condition of conditions) {
      const result = evaluation.evaluate(condition)
      if ('error' in result) errors.push(result.error)
      else if (result.value === false) isFalse = true
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return failsOpen ? { matches: false } : { matches: false, error: error.message }
  }
  if (isFalse) return { matches: false }
  if (errors.length === 0) return { matches: true }
  if (failsOpen) return { matches: false }
  return { matches: false, error: aggregate(errors) }
}

/** Errors as Go joins them: each once, in brackets if there are several. */
function aggregate(errors: readonly string[]): string {
  const [first, ...rest] = new Set(errors)
  return rest.length === 0 ? (first as string) : `[${[first, ...rest].join(', ')}]`
}
