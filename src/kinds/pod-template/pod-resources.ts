/** Pod-level resources (`spec.resources`), in addition to those of containers. */
import { change } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, notSupported } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '#api/quantity.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkResourceName, isOvercommitAllowed } from '#kinds/all-kinds/resource-names.ts'
import { setKey } from '#schema/user-key.ts'
import { isSidecar } from './container-restart.ts'
import { isHugePages } from './huge-pages.ts'
import type { PodRules } from './pod-rules.ts'
import { checkRequirements } from './resources.ts'

type Amounts = Readonly<Record<string, string>>
type Totals = Map<string, string>

const supported = ['cpu', 'hugepages-', 'memory']

const isPodResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name)

/** Whether the pod has pod-level requests or limits. */
export const hasPodResources = ({ resources }: Loose): boolean =>
  [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})].some(
    isPodResource,
  )

const canonical = (amount: string): string => formatQuantity(parseQuantity(amount))

function add(totals: Totals, amounts: Amounts | Totals | null | undefined): void {
  const entries = amounts instanceof Map ? amounts : Object.entries(amounts ?? {})
  for (const [name, amount] of entries) {
    const before = totals.get(name)
    const sum =
      before === undefined ? canonical(amount) : formatQuantity(addQuantities(before, amount))
    totals.set(name, sum)
  }
}

function raise(totals: Totals, amounts: Totals): void {
  for (const [name, amount] of amounts) {
    const before = totals.get(name)
    if (before === undefined || compareQuantities(amount, before) > 0) totals.set(name, amount)
  }
}

/**
 * The total of all containers. An init container runs together with the sidecars that started
 * before it, and before the regular containers:
 *
 *     containers a: 1, b: 1; sidecar s: 1, then init container i: 3   →   max(1 + 1 + 1, 1 + 3) = 4
 */
function totalOf(spec: Loose, list: 'requests' | 'limits'): Totals {
  const total: Totals = new Map()
  for (const { resources } of (spec.containers ?? []) as Loose[]) add(total, resources?.[list])
  const sidecars: Totals = new Map()
  const highest: Totals = new Map()
  for (const container of (spec.initContainers ?? []) as Loose[]) {
    const amounts = container.resources?.[list]
    if (isSidecar(container)) {
      add(total, amounts)
      add(sidecars, amounts)
      raise(highest, sidecars)
    } else {
      const together: Totals = new Map()
      add(together, amounts)
      add(together, sidecars)
      raise(highest, together)
    }
  }
  raise(total, highest)
  return total
}

export function checkPodResources(
  spec: Loose,
  claims: ReadonlySet<string>,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  if (!spec.resources || !rules.feature('PodLevelResources')) return []
  const at = path.child('resources')
  if (spec.os?.name === 'windows') return [forbidden(at, 'may not be set for a windows pod')]
  const errors: FieldError[] = []
  if (spec.resources.claims || wasWrittenEmpty(spec.resources, 'claims')) {
    const detail = 'claims may not be set for Resources at pod-level'
    errors.push(forbidden(at.child('claims'), detail))
  }
  const { resources } = spec
  errors.push(
    ...checkRequirements(resources, at, rules, { checkName: checkPodResourceName, claims }),
  )
  return [...errors, ...checkTotals(spec, at), ...checkLimitsOfContainers(spec, at)]
}

function checkPodResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = checkResourceName(name, path)
  if (errors.length > 0 || isPodResource(name)) return errors
  return [notSupported(path, name, supported)]
}

function checkTotals(spec: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const list of ['requests', 'limits'] as const) {
    const amounts: Amounts = spec.resources[list] ?? {}
    const totals = totalOf(spec, list)
    for (const name of [...totals.keys()].sort()) {
      if (!Object.hasOwn(amounts, name) || (list === 'limits' && !isHugePages(name))) continue
      const [total, amount] = [totals.get(name) as string, amounts[name] as string]
      if (compareQuantities(total, amount) <= 0) continue
      const detail = `must be greater than or equal to aggregate container ${list} of ${total}`
      errors.push(invalid(path.child(list).key(name), canonical(amount), detail))
    }
  }
  return errors
}

/** The error path has container and resource before the list name, as in kube-apiserver. */
function checkLimitsOfContainers(spec: Loose, path: FieldPath): FieldError[] {
  const ofPod: Amounts = spec.resources.limits ?? {}
  return ((spec.containers ?? []) as Loose[]).flatMap((container, i) => {
    const limits: Amounts = container.resources?.limits ?? {}
    return sortedKeys(limits).flatMap((name) => {
      if (!Object.hasOwn(ofPod, name)) return []
      const [limit, most] = [limits[name] as string, ofPod[name] as string]
      if (compareQuantities(limit, most) <= 0) return []
      const at = path.child('containers').index(i).key(name).child('limits')
      const detail = `must be less than or equal to pod limits of ${canonical(most)}`
      return [invalid(at, canonical(limit), detail)]
    })
  })
}

const hugePagesHaveDefaults = change(
  'limits of huge pages of a pod default to those of its containers',
  {
    since: 34,
  },
)

/**
 * Sets the pod's defaults from the resources of its containers: requests, limits of huge pages, and
 * all limits since 1.37.
 */
export function defaultPodResources(
  spec: Loose,
  { has, limits }: { has: PodRules['has']; limits: boolean },
): void {
  const { resources } = spec
  if (!resources || Object.keys({ ...resources.requests, ...resources.limits }).length === 0) return
  if (has(hugePagesHaveDefaults)) {
    defaultTo(
      resources,
      'limits',
      totalOf(spec, 'limits'),
      (name) => isHugePages(name) && !Object.hasOwn(resources.requests ?? {}, name),
    )
  }
  if (limits || Object.keys(resources.limits ?? {}).length > 0) {
    defaultTo(
      resources,
      'requests',
      totalOf(spec, 'requests'),
      (name) => isPodResource(name) && isOvercommitAllowed(name),
    )
    defaultTo(resources, 'requests', new Map(Object.entries(resources.limits ?? {})), isPodResource)
  }
  if (limits) defaultLimits(spec)
}

function defaultTo(
  resources: Loose,
  list: 'requests' | 'limits',
  totals: Totals,
  which: (name: string) => boolean,
): void {
  const amounts: Record<string, string> = { ...resources[list] }
  let isChanged = false
  for (const [name, amount] of totals) {
    if (!which(name) || Object.hasOwn(amounts, name)) continue
    setKey(amounts, name, amount)
    isChanged = true
  }
  if (isChanged) resources[list] = amounts
}

/** A limit follows where every container has one; it is never below the request. */
function defaultLimits(spec: Loose): void {
  const { resources } = spec
  const requests: Amounts = resources.requests ?? {}
  const all: Loose[] = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ]
  const totals = totalOf(spec, 'limits')
  raise(
    totals,
    new Map(
      [...totals.keys()].flatMap((name) =>
        Object.hasOwn(requests, name) ? [[name, requests[name] as string] as const] : [],
      ),
    ),
  )
  const isLimited = (name: string) =>
    all.every(({ resources: own }) => Object.hasOwn(own?.limits ?? {}, name))
  defaultTo(
    resources,
    'limits',
    totals,
    (name) => isPodResource(name) && Object.hasOwn(requests, name) && isLimited(name),
  )
}
