/**
 * RBAC escalation check: finds the permissions in one set of rules that another set does not grant.
 * A user may grant only permissions that the user has.
 * Each rule is split into single permissions; one owner rule must cover each of them.
 */
import { showStrings } from '#access/error-list.ts'
import { has, type PolicyRule, pathMatches } from './policy-rule.ts'

/**
 * Limit of permissions that are compared one by one; real roles need far fewer. A rule with
 * hundreds of groups, resources and verbs stands for millions of permissions. Comparing them would
 * block the event loop and fill memory.
 */
export const comparedMax = 100_000

/** The permissions in `wanted` that `owned` does not cover, one rule per permission. */
export function uncovered(
  owned: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): PolicyRule[] {
  return openRules(owned, wanted)
    .flatMap(breakDown)
    .filter((single) => !owned.some((rule) => covers(rule, single)))
}

/** The number of permissions that `uncovered` would compare. */
export const comparedFor = (owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): number =>
  openRules(owned, wanted).reduce((sum, rule) => sum + permissionsIn(rule), 0)

/** The wanted rules that no single owned rule covers completely. */
const openRules = (owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] =>
  wanted.filter((rule) => !owned.some((one) => covers(one, rule)))

function permissionsIn({ verbs, apiGroups, resources, ...rest }: PolicyRule): number {
  const named = Math.max(1, rest.resourceNames?.length ?? 0)
  const things = (apiGroups?.length ?? 0) * (resources?.length ?? 0) * named
  return (things + (rest.nonResourceURLs?.length ?? 0)) * (verbs?.length ?? 0)
}

/** Splits a rule into rules with one verb and one resource or URL each. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const out: PolicyRule[] = []
  const names = rule.resourceNames ?? []
  for (const group of rule.apiGroups ?? [])
    for (const resource of rule.resources ?? [])
      for (const verb of rule.verbs ?? []) {
        const single = { verbs: [verb], apiGroups: [group], resources: [resource] }
        if (names.length === 0) out.push(single)
        else for (const name of names) out.push({ ...single, resourceNames: [name] })
      }
  for (const url of rule.nonResourceURLs ?? [])
    for (const verb of rule.verbs ?? []) out.push({ verbs: [verb], nonResourceURLs: [url] })
  return out
}

const coversAll = (
  owned: readonly string[] | null | undefined,
  wanted: readonly string[] | null | undefined,
): boolean => has(owned, '*') || (wanted ?? []).every((item) => has(owned, item))

function covers(owner: PolicyRule, single: PolicyRule): boolean {
  const names = owner.resourceNames ?? []
  const wantedNames = single.resourceNames ?? []
  return (
    coversAll(owner.verbs, single.verbs) &&
    coversAll(owner.apiGroups, single.apiGroups) &&
    resourcesCover(owner.resources, single.resources) &&
    (single.nonResourceURLs ?? []).every((url) =>
      owner.nonResourceURLs?.some((pattern) => pathMatches(pattern, url)),
    ) &&
    (names.length === 0 ||
      (wantedNames.length > 0 && wantedNames.every((name) => names.includes(name))))
  )
}

function resourcesCover(
  owned: readonly string[] | null | undefined,
  wanted: readonly string[] | null | undefined,
): boolean {
  if (coversAll(owned, wanted)) return true
  return (wanted ?? []).every((resource) => {
    if (has(owned, resource)) return true
    const slash = resource.indexOf('/')
    return slash >= 0 && has(owned, `*/${resource.slice(slash + 1)}`)
  })
}

/** Merges rules for the same single resource that differ only in their verbs. */
export function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const complex: PolicyRule[] = []
  const simple = new Map<string, PolicyRule & { verbs: string[] }>()
  for (const rule of rules) {
    const names = rule.resourceNames ?? []
    const isSimple =
      names.length <= 1 &&
      (rule.nonResourceURLs ?? []).length === 0 &&
      rule.apiGroups?.length === 1 &&
      rule.resources?.length === 1
    if (!isSimple) {
      complex.push(rule)
      continue
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, names])
    const same = simple.get(key)
    if (same === undefined) simple.set(key, { ...rule, verbs: [...rule.verbs] })
    else same.verbs.push(...rule.verbs)
  }
  return [...complex, ...simple.values()]
}

/**
 * Formats a rule as kube-apiserver's messages do: `{APIGroups:[""], Resources:["pods"],
 * Verbs:["get"]}`
 */
export function showRule(rule: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const shown = parts
    .filter((part): part is [string, readonly string[]] => (part[1]?.length ?? 0) > 0)
    .map(([name, list]) => `${name}:${showStrings(list)}`)
  return `{${shown.join(', ')}}`
}
