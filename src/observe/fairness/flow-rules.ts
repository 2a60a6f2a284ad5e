/**
 * Which requests a flow schema matches. Rules are compiled once, so that matching is a few
 * comparisons; whether a rule can match a user is decided once per user.
 */
import type { Loose } from '#api/object-meta.ts'

/** The properties of a request that rules match. */
export interface FlowRequest {
  readonly isResource: boolean
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly path: string
}

export interface FlowUser {
  readonly name: string
  readonly groups: readonly string[]
}

/** One rule of a flow schema: its subjects and its requests. */
export interface FlowRule {
  concerns(user: FlowUser): boolean
  matches(request: FlowRequest): boolean
}

export function compileRule(rule: Loose): FlowRule {
  const subjects: ((user: FlowUser) => boolean)[] = (rule.subjects ?? []).map(subjectTest)
  const resources: ((request: FlowRequest) => boolean)[] = (rule.resourceRules ?? []).map(
    resourceTest,
  )
  const others: ((request: FlowRequest) => boolean)[] = (rule.nonResourceRules ?? []).map(pathTest)
  return {
    concerns: (user) => subjects.some((test) => test(user)),
    matches(request) {
      for (const test of request.isResource ? resources : others) if (test(request)) return true
      return false
    },
  }
}

const accountPrefix = 'system:serviceaccount:'

function subjectTest(subject: Loose): (user: FlowUser) => boolean {
  switch (subject.kind) {
    case 'User': {
      const name = subject.user?.name
      return (user) => name !== undefined && (name === '*' || name === user.name)
    }
    case 'Group': {
      const name = subject.group?.name
      return ({ groups }) => name !== undefined && (name === '*' || groups.includes(name))
    }
    case 'ServiceAccount': {
      const { namespace, name } = subject.serviceAccount ?? {}
      if (name === undefined) return () => false
      const start = `${accountPrefix}${namespace}:`
      return (user) => (name === '*' ? user.name.startsWith(start) : user.name === start + name)
    }
    default:
      return () => false
  }
}

/** Undefined: the rule matches everything. */
function wanted(list: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return list?.length === 1 && list[0] === '*' ? undefined : new Set(list ?? [])
}

function resourceTest(rule: Loose): (request: FlowRequest) => boolean {
  const verbs = wanted(rule.verbs)
  const groups = wanted(rule.apiGroups)
  const resources = wanted(rule.resources)
  const namespaces = wanted(rule.namespaces)
  const clusterScope = rule.clusterScope === true
  return ({ verb, group, resource, subresource, namespace }) => {
    if (verbs !== undefined && !verbs.has(verb)) return false
    if (
      resources !== undefined &&
      !resources.has(subresource === '' ? resource : `${resource}/${subresource}`)
    )
      return false
    if (groups !== undefined && !groups.has(group)) return false
    if (namespace === '') return clusterScope
    return namespaces === undefined || namespaces.has(namespace)
  }
}

function pathTest(rule: Loose): (request: FlowRequest) => boolean {
  const verbs = wanted(rule.verbs)
  const urls: readonly string[] = rule.nonResourceURLs ?? []
  const starts = urls.map((url) => {
    const start = url.endsWith('*') ? url.slice(0, -1) : url
    return start.endsWith('/') ? start : `${start}/`
  })
  const all = urls.includes('*')
  return ({ verb, path }) => {
    if (verbs !== undefined && !verbs.has(verb)) return false
    return all || urls.includes(path) || starts.some((start) => path.startsWith(start))
  }
}
