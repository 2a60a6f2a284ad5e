/**
 * Impersonation: parses the Impersonate-* headers into the required permissions (one check for each
 * name, group, extra value and uid) and the impersonated user. Pure functions.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { badRequest } from '#api/status-error.ts'
import { allTexts, append, firstText, unescapedKey } from './authenticate/header-values.ts'
import type { Attributes } from './authorize.ts'
import { serviceAccountGroups, splitServiceAccountName } from './service-account-name.ts'
import { allAuthenticated, allUnauthenticated, anonymous, type User } from './user.ts'

export interface Impersonation {
  /** All of these must be allowed, in this order; the first that is not is the answer. */
  readonly checks: readonly Attributes[]
  readonly user: User
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>

const extraPrefix = 'impersonate-extra-'
const impersonatesUids = change('a uid can be impersonated', { since: 22 })

/** Whether the header belongs to impersonation. Such headers are never forwarded. */
export const isImpersonationHeader = (name: string): boolean => name.startsWith('impersonate-')

/** Undefined without impersonation. Throws if groups, extra or uid are specified without a user. */
export function impersonation(
  headers: Headers,
  caller: User,
  release: number,
): Impersonation | undefined {
  const name = firstText(headers['impersonate-user']) ?? ''
  const groups = allTexts(headers['impersonate-group'])
  const extra = extraOf(headers)
  const uid = releaseOf(release).has(impersonatesUids)
    ? (firstText(headers['impersonate-uid']) ?? '')
    : ''
  const account = splitServiceAccountName(name)
  if (name === '') {
    if (groups.length === 0 && extra.length === 0 && uid === '') return undefined
    throw badRequest(`requested ${showRequests(groups, extra, uid)} without impersonating a user`)
  }
  const check = (resource: string, named: string, more: Partial<Attributes> = {}): Attributes => ({
    user: caller,
    verb: 'impersonate',
    isResource: true,
    group: '',
    version: 'v1',
    resource,
    subresource: '',
    namespace: '',
    name: named,
    path: '',
    ...more,
  })
  const authentication = { group: 'authentication.k8s.io', version: 'v1' }
  const checks = [
    account === undefined
      ? check('users', name)
      : check('serviceaccounts', account.name, { namespace: account.namespace }),
    ...groups.map((group) => check('groups', group)),
    ...extra.flatMap(({ key, values }) =>
      values.map((value) => check('userextras', value, { ...authentication, subresource: key })),
    ),
    ...(uid === '' ? [] : [check('uids', uid, authentication)]),
  ]
  const all = groupsOf(name, account?.namespace, groups, release)
  return { checks, user: userOf(name, all, extra, uid) }
}

/** The user as the headers specify it. An empty name without anything else is no impersonation. */
export function requestedUser(headers: Headers): User {
  const name = firstText(headers['impersonate-user']) ?? ''
  const uid = firstText(headers['impersonate-uid']) ?? ''
  return userOf(name, [...allTexts(headers['impersonate-group'])], extraOf(headers), uid)
}

interface Extra {
  readonly key: string
  readonly values: readonly string[]
}

const extraOf = (headers: Headers): Extra[] =>
  Object.entries(headers)
    .filter(([name]) => name.startsWith(extraPrefix))
    .map(([name, value]) => ({
      key: unescapedKey(name.slice(extraPrefix.length)),
      values: allTexts(value),
    }))

const addsStandardGroups = change(
  'an impersonated user with groups is in system:authenticated too',
  { since: 17 },
)

function groupsOf(
  name: string,
  accountNamespace: string | undefined,
  given: readonly string[],
  release: number,
): string[] {
  const groups =
    given.length === 0 && accountNamespace !== undefined
      ? serviceAccountGroups(accountNamespace)
      : [...given]
  const isNobody = name === anonymous.name
  if (!releaseOf(release).has(addsStandardGroups) && (isNobody || given.length > 0)) return groups
  if (isNobody) {
    if (!groups.includes(allUnauthenticated)) groups.push(allUnauthenticated)
  } else if (!groups.includes(allAuthenticated) && !groups.includes(allUnauthenticated)) {
    groups.push(allAuthenticated)
  }
  return groups
}

function userOf(name: string, groups: string[], extras: readonly Extra[], uid: string): User {
  const extra: Record<string, string[]> = {}
  for (const { key, values } of extras) append(extra, key, values)
  return { name, uid, groups, extra }
}

/**
 * The requested references as kube-apiserver shows them: kind, namespace, name, uid, apiVersion,
 * resourceVersion, fieldPath.
 */
function showRequests(groups: readonly string[], extras: readonly Extra[], uid: string): string {
  const shown = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...extras.flatMap(({ key, values }) =>
      values.map((value) => `{UserExtra  ${value}  authentication.k8s.io/v1  ${key}}`),
    ),
    ...(uid === '' ? [] : [`{UID  ${uid}  authentication.k8s.io/v1  }`]),
  ]
  return `[${shown.join(' ')}]`
}
