/**
 * Checks one request against the quotas of its namespace. Either throws a rejection, or returns the
 * quotas with the request's usage added. Pure.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import { refusal } from '#admission/refusal.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { signOfQuantity } from '#api/quantity.ts'
import { change, type Release } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import { type Evaluator, type Scope, scopesOf } from './evaluator.ts'
import {
  add,
  amountsOf,
  exceeding,
  listOf,
  moreThan,
  only,
  type ResourceAmounts,
  showAmounts,
  showNames,
  withoutZeros,
} from './resource-amounts.ts'

/** Resources that need a quota that covers them, from the plugin's configuration. */
export interface LimitedResource {
  readonly apiGroup: string
  readonly resource: string
  readonly matchContains: readonly string[]
  readonly matchScopes: readonly Scope[]
}

const chargesScopes = change('an update into the scope of a quota counts as a whole', {
  since: 33,
})

/** The quotas that change, with their new status. */
export function checkQuotas(
  quotas: readonly KubeObject[],
  request: AdmissionRequest,
  evaluator: Evaluator,
  limited: readonly LimitedResource[],
  release: Release,
): KubeObject[] {
  const object = request.object as KubeObject
  const covering = quotas.filter((quota) => covers(quota, object, evaluator))
  const covered = new Set<string>()
  for (const quota of covering) {
    const names = countedNames(quota, evaluator)
    requireCountable(request, quota, names, evaluator)
    for (const name of names) covered.add(name)
  }
  const { whole, more } = usages(request, evaluator)
  // An update can move an object into the scope of a quota.
  const isNewTo = (quota: KubeObject) =>
    release.has(chargesScopes) &&
    request.old !== undefined &&
    !covers(quota, request.old, evaluator)
  const charges = covering.map((quota) => [quota, isNewTo(quota) ? whole : more] as const)
  // Limited resources must be covered even if no quota covers the object.
  const deltas = charges.length === 0 ? [more] : charges.map(([, delta]) => delta)
  if (deltas.every(({ size }) => size === 0)) return []
  requireCovered(request, evaluator, limited, covered, quotas)
  return charges.flatMap(([quota, delta]) => charge(request, quota, delta) ?? [])
}

const hardOf = ({ status }: KubeObject): Record<string, string> => status?.hard ?? {}

const countedNames = (quota: KubeObject, evaluator: Evaluator): string[] =>
  Object.keys(hardOf(quota)).filter((name) => evaluator.counts(name))

function covers(quota: KubeObject, object: KubeObject, evaluator: Evaluator): boolean {
  if (countedNames(quota, evaluator).length === 0) return false
  return scopesOf(quota).every((scope) => evaluator.inScope(scope, object))
}

function requireCountable(
  request: AdmissionRequest,
  quota: KubeObject,
  names: string[],
  evaluator: Evaluator,
): void {
  const { name } = quota.metadata
  const problem = evaluator.problem?.(names, request.object as KubeObject)
  if (problem !== undefined) throw refusal(request, `failed quota: ${name}: ${problem}`)
  const used: Loose = quota.status?.used ?? {}
  if (names.every((resource) => Object.hasOwn(used, resource))) return
  throw refusal(request, `status unknown for quota: ${name}, resources: ${showNames(names)}`)
}

/** The usage of the object, and the increase over the previous object. */
function usages(
  request: AdmissionRequest,
  evaluator: Evaluator,
): { whole: ResourceAmounts; more: ResourceAmounts } {
  const usage = evaluator.usage(request.object as KubeObject)
  const negative = [...usage]
    .filter(([, amount]) => signOfQuantity(amount) < 0)
    .map(([name]) => name)
  if (negative.length > 0) {
    throw refusal(request, `quota usage is negative for resource(s): ${showNames(negative)}`)
  }
  const before = request.operation === 'UPDATE' && request.old?.metadata.resourceVersion
  const whole = withoutZeros(usage)
  if (!before) return { whole, more: whole }
  const more = moreThan(usage, evaluator.usage(request.old as KubeObject))
  return { whole, more: withoutZeros(more) }
}

/** Throws if the object needs a limited resource, or is in a limited scope, that no quota has. */
function requireCovered(
  request: AdmissionRequest,
  evaluator: Evaluator,
  limited: readonly LimitedResource[],
  covered: ReadonlySet<string>,
  quotas: readonly KubeObject[],
): void {
  if (limited.length === 0) return
  const object = request.object as KubeObject
  const { group, plural } = request.kind
  const uncovered = new Set<string>()
  for (const { apiGroup, resource, matchContains } of limited) {
    if (apiGroup !== group || resource !== plural) continue
    for (const [name, amount] of evaluator.usage(object)) {
      if (signOfQuantity(amount) <= 0 || covered.has(name)) continue
      if (matchContains.some((part) => name.includes(part))) uncovered.add(name)
    }
  }
  if (uncovered.size > 0)
    throw refusal(request, `insufficient quota to consume: ${showNames([...uncovered])}`)
  const quotaScopes = quotas.flatMap(scopesOf).filter((scope) => evaluator.inScope(scope, object))
  const limitedScopes = limited
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => evaluator.inScope(scope, object))
  const uncoveredScopes = limitedScopes.filter(
    ({ scopeName }) => !quotaScopes.some((scope) => scope.scopeName === scopeName),
  )
  if (uncoveredScopes.length === 0) return
  const shown = uncoveredScopes.map(
    ({ scopeName, operator, values }) => `{${scopeName} ${operator} [${(values ?? []).join(' ')}]}`,
  )
  throw new ApiError(500, '', `insufficient quota to match these scopes: [${shown.join(' ')}]`)
}

/** The quota with increased usage. Undefined if it does not count this object. */
function charge(
  request: AdmissionRequest,
  quota: KubeObject,
  delta: ResourceAmounts,
): KubeObject | undefined {
  const hard = amountsOf(hardOf(quota))
  const used = amountsOf(quota.status?.used)
  const requested = only(delta, hard.keys())
  if (requested.size === 0) return undefined
  const next = add(used, requested)
  // A status update reports usage that exists already, so it is never rejected.
  const isReport = request.subresource === 'status'
  const over = isReport ? [] : exceeding(only(next, requested.keys()), hard)
  if (over.length > 0) {
    const show = (amounts: ResourceAmounts) => showAmounts(only(amounts, over))
    throw refusal(
      request,
      `exceeded quota: ${quota.metadata.name}, requested: ${show(requested)}, used: ${show(used)}, limited: ${show(hard)}`,
    )
  }
  return { ...quota, status: { ...quota.status, used: listOf(next) } }
}
