/** Validation of requests and limits of containers. */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { canonicalQuantity, compareQuantities } from '#api/quantity.ts'
import { change } from '#api/releases/change.ts'
import { sortedKeys } from '#kinds/all-kinds/checks.ts'
import {
  checkContainerResourceName,
  checkResourceQuantity,
  isOvercommitAllowed,
} from '#kinds/all-kinds/resource-names.ts'
import { isHugePages, isWholePages } from './huge-pages.ts'
import type { PodRules } from './pod-rules.ts'
import { checkContainerClaims } from './resource-claims.ts'

type Amounts = Readonly<Record<string, string>>

const isCompute = (name: string): boolean => name === 'cpu' || name === 'memory'

const errorsNameLimit = change('errors of requests show the limit they exceed', { since: 27 })

interface Requirements {
  readonly checkName: (name: string, path: FieldPath) => FieldError[]
  /** Claims of the pod. */
  readonly claims: ReadonlySet<string>
}

const noClaims: ReadonlySet<string> = new Set()

/** Resources of a container, or the overhead of a pod. */
export const checkResources = (
  resources: Loose | null | undefined,
  path: FieldPath,
  rules: PodRules,
  claims: ReadonlySet<string> = noClaims,
): FieldError[] =>
  checkRequirements(resources ?? {}, path, rules, { checkName: checkContainerResourceName, claims })

export function checkRequirements(
  resources: Loose,
  path: FieldPath,
  rules: PodRules,
  { checkName, claims }: Requirements,
): FieldError[] {
  const errors: FieldError[] = []
  const limits: Amounts = resources.limits ?? {}
  const requests: Amounts = resources.requests ?? {}
  const limitNames = sortedKeys(limits)
  const requestNames = sortedKeys(requests)
  for (const name of limitNames) {
    const at = path.child('limits').key(name)
    errors.push(...checkName(name, at), ...checkResourceQuantity(limits, name, at))
    errors.push(...checkPages(name, limits[name] as string, at, rules))
  }
  for (const name of requestNames) {
    const amount = requests[name] as string
    const at = path.child('requests').key(name)
    errors.push(...checkName(name, at), ...checkResourceQuantity(requests, name, at))
    errors.push(...checkAgainstLimit(name, amount, limits, path, rules))
    errors.push(...checkPages(name, amount, at, rules))
  }
  const names = [...limitNames, ...requestNames]
  if (names.some(isHugePages) && !names.some(isCompute)) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'))
  }
  errors.push(...checkContainerClaims(resources.claims, claims, path.child('claims')))
  return errors
}

function checkPages(name: string, amount: string, path: FieldPath, rules: PodRules): FieldError[] {
  if (!isHugePages(name) || rules.allowIndivisibleHugePages || isWholePages(name, amount)) return []
  return [invalid(path, amount, `${amount} is not positive integer multiple of ${name}`)]
}

function checkAgainstLimit(
  name: string,
  amount: string,
  limits: Amounts,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const overcommit = isOvercommitAllowed(name)
  if (!Object.hasOwn(limits, name)) {
    const detail = 'Limit must be set for non overcommitable resources'
    return overcommit ? [] : [required(path.child('limits'), detail)]
  }
  const limit = limits[name] as string
  const order = compareQuantities(amount, limit)
  const at = path.child('requests')
  const which = rules.has(errorsNameLimit)
    ? `${name} limit of ${canonicalQuantity(limit)}`
    : `${name} limit`
  if (order !== 0 && !overcommit) return [invalid(at, amount, `must be equal to ${which}`)]
  return order > 0 ? [invalid(at, amount, `must be less than or equal to ${which}`)] : []
}
