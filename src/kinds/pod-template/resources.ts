/**
 * What a container requests and may use at most: requests and limits of cpu, memory and other
 * resources.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { compareQuantities } from '#api/quantity.ts'
import { sortedKeys } from '#kinds/all-kinds/checks.ts'
import {
  checkContainerResourceName,
  checkResourceQuantity,
  isOvercommitAllowed,
} from '#kinds/all-kinds/resource-names.ts'
import { isHugePages, isWholePages } from './huge-pages.ts'
import type { PodRules } from './pod-rules.ts'

type Amounts = Readonly<Record<string, string>>

const isCompute = (name: string): boolean => name === 'cpu' || name === 'memory'

export function checkResources(
  resources: Loose | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const limits: Amounts = resources?.limits ?? {}
  const requests: Amounts = resources?.requests ?? {}
  const limitNames = sortedKeys(limits)
  const requestNames = sortedKeys(requests)
  for (const name of limitNames) {
    const at = path.child('limits').key(name)
    errors.push(...checkAmount(limits, name, at))
    errors.push(...checkPages(name, limits[name] as string, at, rules))
  }
  for (const name of requestNames) {
    const amount = requests[name] as string
    const at = path.child('requests').key(name)
    errors.push(...checkAmount(requests, name, at))
    errors.push(...checkAgainstLimit(name, amount, limits, path))
    errors.push(...checkPages(name, amount, at, rules))
  }
  const names = [...limitNames, ...requestNames]
  if (names.some(isHugePages) && !names.some(isCompute)) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'))
  }
  return errors
}

const checkAmount = (amounts: Amounts, name: string, path: FieldPath): FieldError[] => [
  ...checkContainerResourceName(name, path),
  ...checkResourceQuantity(amounts, name, path),
]

function checkPages(name: string, amount: string, path: FieldPath, rules: PodRules): FieldError[] {
  if (!isHugePages(name) || rules.allowIndivisibleHugePages || isWholePages(name, amount)) return []
  return [invalid(path, amount, `${amount} is not positive integer multiple of ${name}`)]
}

function checkAgainstLimit(
  name: string,
  amount: string,
  limits: Amounts,
  path: FieldPath,
): FieldError[] {
  const overcommit = isOvercommitAllowed(name)
  if (!Object.hasOwn(limits, name)) {
    const detail = 'Limit must be set for non overcommitable resources'
    return overcommit ? [] : [required(path.child('limits'), detail)]
  }
  const order = compareQuantities(amount, limits[name] as string)
  const at = path.child('requests')
  if (order !== 0 && !overcommit) return [invalid(at, amount, `must be equal to ${name} limit`)]
  return order > 0 ? [invalid(at, amount, `must be less than or equal to ${name} limit`)] : []
}
