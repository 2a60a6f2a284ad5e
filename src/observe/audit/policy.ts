/**
 * The audit policy: the first rule that matches a request determines the audit level and omitted
 * stages. Parsing and evaluation are pure. Parsing an invalid policy returns a list of errors.
 */
import type { Loose } from '#api/object-meta.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import { change, type Release } from '#api/releases/change.ts'

export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof levels)[number]
export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type Stage = (typeof stages)[number]

export type AuditVersion = 'audit.k8s.io/v1' | 'audit.k8s.io/v1beta1' | 'audit.k8s.io/v1alpha1'

/** The properties of a request that rules match. */
export interface AuditedRequest {
  readonly user: { readonly name: string; readonly groups: readonly string[] }
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
}

export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitted: ReadonlySet<string>
  /** Whether managedFields are removed from recorded objects. */
  readonly omitsManagedFields: boolean
}

interface Rule extends AuditDecision {
  matches(request: AuditedRequest): boolean
}

export interface Policy {
  decide(request: AuditedRequest): AuditDecision
}

/** The versions of policies and events in a release. */
export const auditVersionsOf = (release: Release): readonly AuditVersion[] =>
  release.has(oldVersions)
    ? ['audit.k8s.io/v1', 'audit.k8s.io/v1beta1', 'audit.k8s.io/v1alpha1']
    : ['audit.k8s.io/v1']

const oldVersions = change('audit policies and records can have versions before audit.k8s.io/v1', {
  until: 23,
})
const canNameAllGroups = change('an audit policy can name all groups by a star', { since: 36 })
const canOmitManagedFields = change('an audit policy can omit managed fields of recorded objects', {
  since: 23,
})

export function readPolicy(value: unknown, release: Release): Policy | { problems: string[] } {
  const policy = (value ?? {}) as Loose
  const versions: readonly string[] = auditVersionsOf(release)
  if (
    typeof policy !== 'object' ||
    policy.kind !== 'Policy' ||
    !versions.includes(policy.apiVersion)
  ) {
    return {
      problems: [
        `unknown group version field ${policy.apiVersion ?? ''}, Kind=${policy.kind ?? ''} in policy; known is Policy of ${versions.join(', ')}`,
      ],
    }
  }
  const misshapen = shapeProblems(policy)
  if (misshapen.length > 0) return { problems: misshapen }
  const starIsAnyGroup = release.has(canNameAllGroups)
  const rules: Loose[] = policy.rules ?? []
  const problems = [
    ...stageProblems(policy.omitStages, 'omitStages'),
    ...rules.flatMap((rule, at) => ruleProblems(rule, `rules[${at}]`, starIsAnyGroup)),
  ]
  if (problems.length > 0) return { problems }
  if (rules.length === 0) return { problems: ['loaded illegal policy with 0 rules'] }
  const omittedAlways: string[] = policy.omitStages ?? []
  const omitsManagedFields = (rule: Loose): boolean =>
    release.has(canOmitManagedFields) &&
    (rule.omitManagedFields ?? policy.omitManagedFields ?? false)
  const compiled = rules.map((rule) => ({
    ...compile(rule, omittedAlways, starIsAnyGroup),
    omitsManagedFields: omitsManagedFields(rule),
  }))
  const nothing: AuditDecision = {
    level: 'None',
    omitted: new Set(omittedAlways),
    omitsManagedFields: false,
  }
  return { decide: (request) => compiled.find((rule) => rule.matches(request)) ?? nothing }
}

const listsOfRules = ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs', 'omitStages']

/**
 * Reject a string instead of a list, as in `users: admin`, because such a rule would match no user.
 */
function shapeProblems(policy: Loose): string[] {
  const list = (value: unknown, type: 'string' | 'object', at: string): string[] => {
    const isOne = (item: unknown) => typeof item === type && item !== null && !Array.isArray(item)
    if (value === undefined || value === null) return []
    if (Array.isArray(value) && value.every(isOne)) return []
    return [`${at}: Invalid value: must be a list of ${type === 'string' ? 'texts' : 'objects'}`]
  }
  const flag = ({ omitManagedFields: value }: Loose, at: string): string[] =>
    typeof (value ?? false) === 'boolean'
      ? []
      : [`${at}omitManagedFields: Invalid value: must be true or false`]
  const whole = [
    ...list(policy.omitStages, 'string', 'omitStages'),
    ...list(policy.rules, 'object', 'rules'),
    ...flag(policy, ''),
  ]
  if (whole.length > 0) return whole
  return ((policy.rules ?? []) as Loose[]).flatMap((rule, i) => {
    const at = `rules[${i}]`
    const own = [
      ...flag(rule, `${at}.`),
      ...listsOfRules.flatMap((name) => list(rule[name], 'string', `${at}.${name}`)),
      ...list(rule.resources, 'object', `${at}.resources`),
    ]
    if (own.length > 0) return own
    return ((rule.resources ?? []) as Loose[]).flatMap(({ group, resources, resourceNames }, j) => [
      ...list([group ?? ''], 'string', `${at}.resources[${j}].group`),
      ...list(resources, 'string', `${at}.resources[${j}].resources`),
      ...list(resourceNames, 'string', `${at}.resources[${j}].resourceNames`),
    ])
  })
}

function compile(
  rule: Loose,
  omittedAlways: readonly string[],
  starIsAnyGroup: boolean,
): Omit<Rule, 'omitsManagedFields'> {
  const users = setOf(rule.users)
  const groups: readonly string[] = rule.userGroups ?? []
  const verbs = setOf(rule.verbs)
  const namespaces = setOf(rule.namespaces)
  const resources: readonly Loose[] = rule.resources ?? []
  const urls: readonly string[] = rule.nonResourceURLs ?? []
  return {
    level: rule.level,
    omitted: new Set([...omittedAlways, ...(rule.omitStages ?? [])]),
    matches(request) {
      if (users !== undefined && !users.has(request.user.name)) return false
      if (groups.length > 0 && !groups.some((group) => request.user.groups.includes(group)))
        return false
      if (verbs !== undefined && !verbs.has(request.verb)) return false
      if (namespaces !== undefined || resources.length > 0) {
        if (!request.isResource) return false
        if (namespaces !== undefined && !namespaces.has(request.namespace)) return false
        return (
          resources.length === 0 ||
          resources.some((one) => matchesResource(one, request, starIsAnyGroup))
        )
      }
      if (urls.length > 0)
        return !request.isResource && urls.some((url) => matchesPath(url, request.path))
      return true
    },
  }
}

/** Undefined: no restriction. */
const setOf = (list: readonly string[] | undefined) =>
  list && list.length > 0 ? new Set(list) : undefined

/**
 * `pods`, `pods/log`, `*`, `pods/*` (pods and their subresources) and a star before `/scale` (of
 * anything).
 */
function matchesResource(
  wanted: Loose,
  { group, resource, subresource, name }: AuditedRequest,
  starIsAnyGroup: boolean,
): boolean {
  const wantedGroup = wanted.group ?? ''
  if (wantedGroup !== group && !(starIsAnyGroup && wantedGroup === '*')) return false
  const resources: readonly string[] = wanted.resources ?? []
  if (resources.length === 0) return true
  const names: readonly string[] = wanted.resourceNames ?? []
  if (names.length > 0 && !names.includes(name)) return false
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return resources.some(
    (one) =>
      one === '*' ||
      one === whole ||
      one === `${resource}/*` ||
      (subresource !== '' && one === `*/${subresource}`),
  )
}

function matchesPath(url: string, path: string): boolean {
  if (url === '*' || url === path) return true
  return url.endsWith('*') && path.startsWith(url.slice(0, -1))
}

function ruleProblems(rule: Loose, at: string, starIsAnyGroup: boolean): string[] {
  const problems: string[] = []
  if ((rule.level ?? '') === '') problems.push(`${at}.level: Required value`)
  else if (!levels.includes(rule.level)) {
    const supported = levels.map((level) => JSON.stringify(level)).join(', ')
    problems.push(
      `${at}.level: Unsupported value: ${JSON.stringify(rule.level)}: supported values: ${supported}`,
    )
  }
  const urls: readonly string[] = rule.nonResourceURLs ?? []
  for (const [index, url] of urls.entries()) {
    if (url === '*') continue
    const stated = `${at}.nonResourceURLs[${index}]: Invalid value: ${JSON.stringify(url)}: `
    if (!url.startsWith('/'))
      problems.push(`${stated}non-resource URL rules must begin with a '/' character`)
    if (url.slice(0, -1).includes('*')) {
      problems.push(
        `${stated}non-resource URL wildcards '*' must be the final character of the rule`,
      )
    }
  }
  for (const { group = '', resources = [], resourceNames = [] } of (rule.resources ??
    []) as Loose[]) {
    const bad =
      group === '' || (starIsAnyGroup && group === '*') ? [] : nameIsDnsSubdomain(group, false)
    if (bad.length > 0)
      problems.push(
        `${at}.resources.group: Invalid value: ${JSON.stringify(group)}: ${bad.join(',')}`,
      )
    if (resourceNames.length > 0 && resources.length === 0) {
      problems.push(
        `${at}.resources.resourceNames: Invalid value: ${JSON.stringify(resourceNames)}: using resourceNames requires at least one resource`,
      )
    }
  }
  problems.push(...stageProblems(rule.omitStages, `${at}.omitStages`))
  if (
    urls.length > 0 &&
    ((rule.resources ?? []).length > 0 || (rule.namespaces ?? []).length > 0)
  ) {
    problems.push(
      `${at}.nonResourceURLs: Invalid value: ${JSON.stringify(urls)}: rules cannot apply to both regular resources and non-resource URLs`,
    )
  }
  return problems
}

function stageProblems(omitted: readonly string[] | undefined, at: string): string[] {
  return (omitted ?? []).flatMap((stage, index) =>
    (stages as readonly string[]).includes(stage)
      ? []
      : [
          `${at}[${index}]: Invalid value: ${JSON.stringify(stage)}: allowed stages are ${stages.join(',')}`,
        ],
  )
}
