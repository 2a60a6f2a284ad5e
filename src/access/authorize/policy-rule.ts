/**
 * One RBAC rule, in the shape of rbac.authorization.k8s.io/v1, and its evaluation for a request. A
 * rule only allows; a request that no rule matches is not allowed.
 */
import type { Attributes } from '#access/authorize.ts'

export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export const has = (list: readonly string[] | null | undefined, item: string): boolean =>
  list?.includes(item) ?? false
const hasOrAll = (list: readonly string[] | null | undefined, item: string): boolean =>
  list != null && (list.includes(item) || list.includes('*'))

/** The resource name in rules: `pods`, or `pods/log` for a subresource. */
export const combinedResource = ({ resource, subresource }: Attributes): string =>
  subresource === '' ? resource : `${resource}/${subresource}`

/** Whether the path matches a pattern, which may end in `*`. */
export function pathMatches(pattern: string, path: string): boolean {
  if (pattern === path) return true
  let end = pattern.length
  while (pattern[end - 1] === '*') end--
  return end < pattern.length && path.startsWith(pattern.slice(0, end))
}

/** `combined` is combinedResource(attributes), made once per request instead of once per rule. */
export function ruleAllows(rule: PolicyRule, attributes: Attributes, combined: string): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false
  if (!attributes.isResource) {
    return rule.nonResourceURLs?.some((url) => pathMatches(url, attributes.path)) ?? false
  }
  if (!hasOrAll(rule.apiGroups, attributes.group)) return false
  if (!resourceMatches(rule.resources, combined, attributes.subresource)) return false
  const names = rule.resourceNames
  return names == null || names.length === 0 || names.includes(attributes.name)
}

/**
 * `*` before a slash matches that subresource of all resources; `*` after a slash is no wildcard.
 */
function resourceMatches(
  resources: readonly string[] | null | undefined,
  combined: string,
  subresource: string,
): boolean {
  if (resources == null) return false
  for (const resource of resources) {
    if (resource === combined || resource === '*') return true
    if (
      subresource !== '' &&
      resource.length === subresource.length + 2 &&
      resource.startsWith('*/') &&
      resource.endsWith(subresource)
    )
      return true
  }
  return false
}
