/** Whether names, such as a pod's priority class, match a requirement of a quota's scope. */
import { matchesRequirement } from '#api/label-requirement.ts'
import type { Scope } from './evaluator.ts'

const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const
const key = 'name'

/** One matching name is enough. Without names, only `NotIn` and `DoesNotExist` match. */
export function matchesScope(
  { operator = 'Exists', values = [] }: Scope,
  names: readonly string[],
): boolean {
  const requirement = { key, operator: operators[operator as keyof typeof operators], values }
  if (requirement.operator === undefined) return false
  if (names.length === 0) return matchesRequirement(requirement, undefined)
  return names.some((name) => matchesRequirement(requirement, { [key]: name }))
}
