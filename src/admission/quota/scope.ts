/** Whether names, such as the priority class of a pod, match a requirement of a quota's scope. */
import { matchesRequirement } from '#api/label-requirement.ts'
import type { Scope } from './evaluator.ts'

const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const
const key = 'name'

/** One name that matches is enough. Without a name, only `NotIn` and `DoesNotExist` match. */
export function matchesScope(
  { operator = 'Exists', values = [] }: Scope,
  names: readonly string[],
): boolean {
  const requirement = { key, operator: operators[operator as keyof typeof operators], values }
  if (requirement.operator === undefined) return false
  if (names.length === 0) return matchesRequirement(requirement, undefined)
  return names.some((name) => matchesRequirement(requirement, { [key]: name }))
}
