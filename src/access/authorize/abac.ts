/**
 * The ABAC mode: a file with one policy per line, read once at start. A line that cannot be parsed
 * prevents the start, with its number in the error. Policies only ever allow.
 */
import {
  type Attributes,
  type Authorizer,
  allowed,
  type Decision,
  type RuleResolver,
  type Rules,
} from '#access/authorize.ts'
import { allAuthenticated, type User } from '#access/user.ts'
import { pathMatches } from './policy-rule.ts'

interface Policy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

const noPolicyMatched: Decision = { decision: 'none', reason: 'No policy matched.' }
const readVerbs = ['get', 'list', 'watch']

export class AbacAuthorizer implements Authorizer, RuleResolver {
  readonly name = 'ABAC'
  readonly #policies: readonly Policy[]

  /** Throws if the text is not a policy file. `file` is only for errors. */
  constructor(text: string, file: string) {
    this.#policies = parsePolicies(text, file)
  }

  authorize(attributes: Attributes): Decision {
    return this.#policies.some((policy) => allows(policy, attributes)) ? allowed : noPolicyMatched
  }

  rulesFor(user: User, namespace: string): Rules {
    const mine = this.#policies.filter(
      (policy) =>
        isMeant(policy, user) && (policy.namespace === '*' || policy.namespace === namespace),
    )
    const verbs = (policy: Policy) => (policy.readonly ? readVerbs : ['*'])
    return {
      resourceRules: mine
        .filter(({ resource }) => resource !== '')
        .map((policy) => ({
          verbs: verbs(policy),
          apiGroups: [policy.apiGroup],
          resources: [policy.resource],
        })),
      nonResourceRules: mine
        .filter(({ nonResourcePath }) => nonResourcePath !== '')
        .map((policy) => ({ verbs: verbs(policy), nonResourceURLs: [policy.nonResourcePath] })),
      incomplete: false,
      errors: [],
    }
  }
}

function allows(policy: Policy, { user, verb, isResource, ...rest }: Attributes): boolean {
  if (!isMeant(policy, user)) return false
  if (policy.readonly && !readVerbs.includes(verb)) return false
  if (!isResource) return pathMatches(policy.nonResourcePath, rest.path)
  const fits = (wanted: string, requested: string) => wanted === '*' || wanted === requested
  return (
    fits(policy.namespace, rest.namespace) &&
    fits(policy.resource, rest.resource) &&
    fits(policy.apiGroup, rest.group)
  )
}

/**
 * A policy with user and group matches that user in that group. A policy with neither matches no
 * user.
 */
function isMeant({ user: wanted, group }: Policy, user: User): boolean {
  if (wanted === '' && group === '') return false
  if (wanted !== '' && wanted !== user.name) return false
  return group === '' || user.groups.includes(group)
}

function parsePolicies(text: string, file: string): Policy[] {
  const policies: Policy[] = []
  text.split('\n').forEach((line, i) => {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return
    try {
      policies.push(parsePolicy(trimmed))
    } catch (error) {
      const why = (error as Error).message
      throw new Error(`error reading policy file ${file}, line ${i + 1}: ${trimmed}: ${why}`)
    }
  })
  return policies
}

function parsePolicy(line: string): Policy {
  const raw: unknown = JSON.parse(line)
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new Error('a policy is an object')
  const { apiVersion, kind, spec } = raw as Record<string, unknown>
  if (apiVersion === undefined || kind === undefined) return unversioned(fields(raw))
  if (apiVersion !== 'abac.authorization.kubernetes.io/v1beta1' || kind !== 'Policy')
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for ${JSON.stringify(apiVersion)}`,
    )
  return everyoneKnown(fields(spec ?? {}))
}

/** Converts a policy without apiVersion, in which absent fields have another meaning. */
function unversioned(policy: Policy): Policy {
  const { user, group, namespace, resource } = policy
  return everyoneKnown({
    ...policy,
    group: user === '' && group === '' ? allAuthenticated : group,
    namespace: namespace || '*',
    resource: resource || '*',
    apiGroup: '*',
    nonResourcePath: namespace === '' && resource === '' ? '*' : '',
  })
}

/** `*` means every authenticated user, never an anonymous one. */
const everyoneKnown = (policy: Policy): Policy =>
  policy.user === '*' || policy.group === '*'
    ? { ...policy, user: '', group: allAuthenticated }
    : policy

function fields(raw: object): Policy {
  const values = raw as Record<string, unknown>
  const text = (name: string): string => {
    const value = values[name] ?? ''
    if (typeof value !== 'string') throw new Error(`${name} must be a string`)
    return value
  }
  const readOnly = values.readonly ?? false
  if (typeof readOnly !== 'boolean') throw new Error('readonly must be a boolean')
  return {
    user: text('user'),
    group: text('group'),
    readonly: readOnly,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  }
}
