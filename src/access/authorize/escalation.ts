/**
 * Prevents privilege escalation: users may grant only permissions that they have. Checked before a
 * role or binding is written. Exempt are members of system:masters and users with the verb
 * `escalate` or `bind` on the role. It does not depend on the authorization modes, and rejects by
 * throwing.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '#api/object-meta.ts'
import { byCodePoint, goQuote } from '#api/go-syntax.ts'
import { forbiddenRequest, notFound } from '#api/status-error.ts'
import type { Attributes, Authorizer } from '#access/authorize.ts'
import { joinErrors, showStrings } from '#access/error-list.ts'
import { isPrivileged, type User } from '#access/user.ts'
import type { PolicyRule } from './policy-rule.ts'
import { type RbacAuthorizer, rbacGroup } from './rbac.ts'
import { comparedFor, comparedMax, compact, showRule, uncovered } from './rule-coverage.ts'

export interface RoleWrite {
  readonly user: User
  readonly plural: 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings'
  readonly namespace: string
  /** The name in the request's path; empty for a create. */
  readonly name: string
  readonly object: KubeObject
  /** Undefined for a create. */
  readonly old: KubeObject | undefined
}

const fullAuthority: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** Call this after mutating admission and before validation. */
export async function refuseEscalation(
  write: RoleWrite,
  authorizer: Authorizer,
  rbac: RbacAuthorizer,
): Promise<void> {
  if (isPrivileged(write.user)) return
  if (write.plural.endsWith('bindings')) await refuseBinding(write, authorizer, rbac)
  else await refuseRole(write, authorizer, rbac)
}

async function refuseRole(write: RoleWrite, authorizer: Authorizer, rbac: RbacAuthorizer) {
  const { user, plural, namespace, name, object, old } = write
  const escalate = attributes(user, 'escalate', rbacGroup, plural, namespace, name)
  if ((await authorizer.authorize(escalate)).decision === 'allow') return
  if (old !== undefined && changesOnlyOwnership(object, old)) return
  const refuse = (why: string) =>
    forbiddenRequest({ group: rbacGroup, plural }, object.metadata.name ?? '', why)
  const missing = escalationProblem(rbac, user, namespace, object.rules ?? [])
  if (missing !== undefined) throw refuse(missing)
  if (!aggregates(object) && !(old !== undefined && aggregates(old))) return
  if (escalationProblem(rbac, user, namespace, fullAuthority) !== undefined)
    throw refuse('must have cluster-admin privileges to use the aggregationRule')
}

async function refuseBinding(write: RoleWrite, authorizer: Authorizer, rbac: RbacAuthorizer) {
  const { user, plural, namespace, object, old } = write
  if (old !== undefined && changesOnlyOwnership(object, old)) return
  const { apiGroup = '', kind = '', name = '' } = object.roleRef ?? {}
  // A reference to another kind grants nothing, and validation rejects it.
  if (kind !== 'ClusterRole' && kind !== 'Role') return
  const role = kind === 'ClusterRole' ? 'clusterroles' : 'roles'
  const bind = attributes(user, 'bind', apiGroup, role, namespace, name)
  if ((await authorizer.authorize(bind)).decision === 'allow') return
  const rules = rbac.rulesOfRole(kind, namespace, name)
  if (rules === undefined) throw notFound({ group: rbacGroup, plural: role }, name)
  const missing = escalationProblem(rbac, user, namespace, rules)
  if (missing !== undefined)
    throw forbiddenRequest({ group: rbacGroup, plural }, object.metadata.name ?? '', missing)
}

/** The error with the permissions that the user lacks. Undefined if the user has all of them. */
function escalationProblem(
  rbac: RbacAuthorizer,
  user: User,
  namespace: string,
  rules: readonly PolicyRule[],
): string | undefined {
  const owned = rbac.policyRulesFor(user, namespace)
  if (comparedFor(owned.rules, rules) > comparedMax)
    return `more than ${comparedMax} RBAC permissions in rules that are not held as they are cannot be granted at once`
  const missing = uncovered(owned.rules, rules)
  if (missing.length === 0) return undefined
  const lines = [...new Set(compact(missing).map(showRule))].sort(byCodePoint)
  const who = `user ${goQuote(user.name)} (groups=${showStrings(user.groups)})`
  const stated = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`
  if (owned.missing.length === 0) return stated
  const errors = owned.missing.map(
    ({ kind, name }) => `${kind.toLowerCase()}s.${rbacGroup} ${goQuote(name)} not found`,
  )
  // A list of one error that may contain several: kube-apiserver then writes two pairs of brackets.
  return `${stated}; resolution errors: [${joinErrors(errors)}]`
}

const aggregates = (role: KubeObject): boolean =>
  (role.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0

/** The garbage collector may always remove an owner or a finalizer. */
export function changesOnlyOwnership(object: KubeObject, old: KubeObject): boolean {
  const rest = ({ metadata, ...fields }: KubeObject) => {
    const { ownerReferences, finalizers, selfLink, managedFields, ...meta } = metadata
    return { ...withoutEmpty(fields), metadata: withoutEmpty(meta) }
  }
  return isDeepStrictEqual(rest(object), rest(old))
}

/** Absent, null and empty are the same. */
const withoutEmpty = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined &&
        value !== null &&
        !(typeof value === 'object' && Object.keys(value).length === 0),
    ),
  )

const attributes = (
  user: User,
  verb: string,
  group: string,
  resource: string,
  namespace: string,
  name: string,
): Attributes => ({
  user,
  verb,
  isResource: true,
  group,
  version: '*',
  resource,
  subresource: '',
  namespace,
  name,
  path: '',
})
