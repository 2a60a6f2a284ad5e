/**
 * Constrained impersonation: a user may be allowed to impersonate only certain identities, and only
 * for certain requests. Five modes are checked in order, and the first that allows decides:
 *
 *   associated-node  a pod's service account impersonates the node of its pod
 *   arbitrary-node   a user impersonates any node
 *   serviceaccount   a user impersonates a service account
 *   user-info        a user impersonates other users, with uids, groups and extra values
 *   legacy           the verb `impersonate` allows every request
 *
 * A constrained mode needs two permissions: `impersonate-on:user-info:get` for the request itself
 * and `impersonate:user-info` for the identity. If no mode allows, the error is that of the first
 * mode that applies. The mode that allowed a caller last is checked first.
 */
import { goQuote } from '#api/go-syntax.ts'
import { domainPrefixedPath, nameIsDnsSubdomain } from '#api/names.ts'
import { messageWithJson } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { type Headers, requestedUser } from './impersonate.ts'
import type { Attributes, Authorizer } from './authorize.ts'
import { earlyBadRequest, type EarlyRefusal, earlyForbidden } from './forbidden.ts'
import { serviceAccountGroups, splitServiceAccountName } from './service-account-name.ts'
import {
  allAuthenticated,
  allUnauthenticated,
  anonymous,
  privilegedGroup,
  type User,
} from './user.ts'

export interface Impersonated {
  readonly user: User
  /** The verb of the constrained mode that allowed it; empty in legacy mode. */
  readonly constraint: string
}

/** Measures attempts and the checks of single permissions. `mode` is empty if none allowed. */
export interface ImpersonationMeter {
  readonly monotonicMs: () => number
  attempted(mode: string, isAllowed: boolean, tookMs: number): void
  authorized(mode: string, isAllowed: boolean, tookMs: number): void
}

const unmeasured: ImpersonationMeter = { monotonicMs: () => 0, attempted() {}, authorized() {} }

/** From this number of groups or extra values on, a permission for all of them is checked first. */
const manyChecks = 4
const nodesGroup = 'system:nodes'
const nodePrefix = 'system:node:'
const nodeNameKey = 'authentication.kubernetes.io/node-name'
const associatedKeys = 'authentication.kubernetes.io/associated-node-keys'

/** The number of callers whose last mode is remembered. */
const callersMax = 10_000

export class ConstrainedImpersonation {
  readonly #authorizer: Pick<Authorizer, 'authorize'>
  readonly #meter: ImpersonationMeter
  /** The mode that allowed last, by the name of the caller: it is checked first. */
  readonly #last = new Map<string, Mode>()

  constructor(authorizer: Pick<Authorizer, 'authorize'>, meter = unmeasured) {
    this.#authorizer = authorizer
    this.#meter = meter
  }

  /**
   * Undefined without impersonation. `request` has the attributes of the request as the caller
   * sends it. Throws the 403 of the first applicable mode if no mode allows.
   */
  async of(headers: Headers, request: Attributes): Promise<Impersonated | undefined> {
    const wanted = requestedUser(headers)
    if (wanted.name === '') {
      if (isOnlyNamed(wanted)) return undefined
      throw earlyBadRequest(`requested ${goValue(wanted)} without impersonating a user name`)
    }
    const { monotonicMs } = this.#meter
    const began = monotonicMs()
    const found = await this.#firstMode(wanted, request)
    const isAllowed = 'name' in found
    this.#meter.attempted(isAllowed ? found.name : '', isAllowed, monotonicMs() - began)
    if (!isAllowed) throw found.refusal
    this.#remember(request.user.name, found)
    return { user: impersonated(wanted, found), constraint: found.isLegacy ? '' : found.verb }
  }

  /** The first mode that allows, or the error of the first applicable mode. */
  async #firstMode(wanted: User, request: Attributes): Promise<Mode | Refused> {
    const caller = request.user
    const last = this.#last.get(caller.name)
    let first: EarlyRefusal | undefined
    for (const mode of last === undefined ? modes : new Set([last, ...modes])) {
      if (!mode.applies(wanted, caller)) continue
      const check = new Check(this.#authorizer, mode, request, this.#meter)
      const refused = await check.problem(wanted)
      if (refused === undefined) return mode
      first ??= refused
    }
    return { refusal: first }
  }

  #remember(caller: string, mode: Mode): void {
    this.#last.delete(caller)
    this.#last.set(caller, mode)
    if (this.#last.size <= callersMax) return
    for (const oldest of this.#last.keys()) {
      this.#last.delete(oldest)
      return
    }
  }
}

const isOnlyNamed = ({ uid, groups, extra }: User): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

function nodeOf(name: string): string | undefined {
  if (!name.startsWith(nodePrefix)) return undefined
  const node = name.slice(nodePrefix.length)
  return nameIsDnsSubdomain(node, false).length === 0 ? node : undefined
}

/** Whether the caller is the service account of a pod on this node. */
function isOnNode({ name, extra }: User, node: string | undefined): boolean {
  if (node === undefined || splitServiceAccountName(name) === undefined) return false
  const nodes = extra[nodeNameKey] ?? []
  return nodes.length === 1 && nodes[0] === node
}

interface Refused {
  readonly refusal: EarlyRefusal | undefined
}

interface Mode {
  readonly name: string
  readonly verb: string
  readonly isLegacy: boolean
  applies(wanted: User, caller: User): boolean
}

const constrained = (name: string, applies: Mode['applies']): Mode => ({
  name,
  verb: `impersonate:${name}`,
  isLegacy: false,
  applies,
})

const associatedNode = constrained(
  'associated-node',
  (wanted, caller) => isOnlyNamed(wanted) && isOnNode(caller, nodeOf(wanted.name)),
)

const modes: readonly Mode[] = [
  associatedNode,
  constrained(
    'arbitrary-node',
    (wanted) => isOnlyNamed(wanted) && nodeOf(wanted.name) !== undefined,
  ),
  constrained(
    'serviceaccount',
    (wanted) => isOnlyNamed(wanted) && splitServiceAccountName(wanted.name) !== undefined,
  ),
  constrained(
    'user-info',
    ({ name }) => nodeOf(name) === undefined && splitServiceAccountName(name) === undefined,
  ),
  { name: 'legacy', verb: 'impersonate', isLegacy: true, applies: () => true },
]

/** The permissions that one mode needs for one request. Each method returns the first refusal. */
class Check {
  readonly #authorizer: Pick<Authorizer, 'authorize'>
  readonly #mode: Mode
  readonly #request: Attributes
  readonly #meter: ImpersonationMeter

  constructor(
    authorizer: Pick<Authorizer, 'authorize'>,
    mode: Mode,
    request: Attributes,
    meter: ImpersonationMeter,
  ) {
    this.#authorizer = authorizer
    this.#mode = mode
    this.#request = request
    this.#meter = meter
  }

  async problem(wanted: User): Promise<EarlyRefusal | undefined> {
    const { name, isLegacy } = this.#mode
    const verb = `impersonate-on:${name}:${this.#request.verb}`
    return (
      (isLegacy ? undefined : await this.#refusal({ ...this.#request, verb })) ??
      (await this.#refusal(this.#nameOf(wanted.name))) ??
      (wanted.uid === '' ? undefined : await this.#refusal(this.#of('uids', wanted.uid))) ??
      (await this.#groups(wanted.groups)) ??
      (await this.#extra(wanted.extra))
    )
  }

  #of(resource: string, name: string, more: Partial<Attributes> = {}): Attributes {
    return {
      user: this.#request.user,
      verb: this.#mode.verb,
      isResource: true,
      group: 'authentication.k8s.io',
      version: 'v1',
      resource,
      subresource: '',
      namespace: '',
      name,
      path: '',
      ...more,
    }
  }

  /** Names and groups are of the core group in legacy mode. */
  #identity(resource: string, name: string, more: Partial<Attributes> = {}): Attributes {
    return this.#of(resource, name, { ...(this.#mode.isLegacy && { group: '' }), ...more })
  }

  #nameOf(name: string): Attributes {
    const node = this.#mode.isLegacy ? undefined : nodeOf(name)
    if (node !== undefined) return this.#identity('nodes', node)
    const account = splitServiceAccountName(name)
    return account === undefined
      ? this.#identity('users', name)
      : this.#identity('serviceaccounts', account.name, { namespace: account.namespace })
  }

  async #groups(groups: readonly string[]): Promise<EarlyRefusal | undefined> {
    const one = (name: string) => this.#identity('groups', name)
    if (!this.#mode.isLegacy) {
      if (groups.includes(''))
        return earlyForbidden(one(''), 'impersonating the empty string group is not allowed')
      if (groups.includes(privilegedGroup))
        return earlyForbidden(
          one(privilegedGroup),
          `impersonating the ${privilegedGroup} group is not allowed`,
        )
      if (groups.length >= manyChecks && (await this.#refusal(one('*'))) === undefined)
        return undefined
    }
    return this.#firstRefusal(groups.map(one))
  }

  async #extra(extra: User['extra']): Promise<EarlyRefusal | undefined> {
    const entries = Object.entries(extra)
    const one = (subresource: string, name: string) => this.#of('userextras', name, { subresource })
    if (!this.#mode.isLegacy && entries.length > 0) {
      const problem = entries.map(extraProblem).find((found) => found !== undefined)
      if (problem !== undefined) return earlyForbidden(one('', ''), problem)
      const count = entries.reduce((sum, [, values]) => sum + values.length, 0)
      if (count >= manyChecks && (await this.#refusal(one('*', '*'))) === undefined)
        return undefined
    }
    return this.#firstRefusal(
      entries.flatMap(([key, values]) => values.map((value) => one(key, value))),
    )
  }

  async #firstRefusal(all: readonly Attributes[]): Promise<EarlyRefusal | undefined> {
    for (const attributes of all) {
      const refused = await this.#refusal(attributes)
      if (refused !== undefined) return refused
    }
  }

  async #refusal(attributes: Attributes): Promise<EarlyRefusal | undefined> {
    const checked = this.#mode === associatedNode ? forAllNodes(attributes) : attributes
    const { monotonicMs } = this.#meter
    const began = monotonicMs()
    const { decision, reason, error } = await this.#authorizer.authorize(checked)
    this.#meter.authorized(this.#mode.name, decision === 'allow', monotonicMs() - began)
    if (decision === 'allow') return undefined
    return earlyForbidden(checked, [error, reason].filter((text) => text).join(': '))
  }
}

/**
 * The permission for the associated node does not depend on the node. An authorizer sees `*` as its
 * name, and of the caller's extra values only the keys.
 */
function forAllNodes(attributes: Attributes): Attributes {
  const { user, verb, name } = attributes
  const extra = { [associatedKeys]: Object.keys(user.extra).sort() }
  const isIdentity = verb === associatedNode.verb
  return { ...attributes, user: { ...user, extra }, name: isIdentity ? '*' : name }
}

function extraProblem([key, values]: [string, readonly string[]]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed'
  const problems = domainPrefixedPath(key, FieldPath.of('extra', 'key')).map(
    (error) => `${error.field}: ${messageWithJson(error)}`,
  )
  if (problems.length > 0) {
    const shown = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
    return `impersonating an invalid key in extra is not allowed: ${shown}`
  }
  if (key !== key.toLowerCase())
    return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`
  if (values.length === 0) return 'impersonating empty values in extra is not allowed'
  if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
}

function impersonated(wanted: User, { isLegacy }: Mode): User {
  const groups = fixedGroups(wanted, isLegacy) ?? [...wanted.groups]
  const ensured = wanted.name === anonymous.name ? allUnauthenticated : allAuthenticated
  if (!groups.includes(ensured) && !groups.includes(allUnauthenticated)) groups.push(ensured)
  return { ...wanted, groups }
}

/** The groups of nodes and service accounts, where the request has none. */
function fixedGroups({ name, groups }: User, isLegacy: boolean): string[] | undefined {
  if (!isLegacy && nodeOf(name) !== undefined) return [nodesGroup]
  const account = splitServiceAccountName(name)
  return account !== undefined && groups.length === 0
    ? serviceAccountGroups(account.namespace)
    : undefined
}

const texts = (values: readonly string[]): string =>
  values.length === 0 ? '[]string(nil)' : `[]string{${values.map(goQuote).join(', ')}}`

/** The requested user as Go's `%#v` shows it. */
function goValue({ name, uid, groups, extra }: User): string {
  const entries = Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1))
  const shown =
    entries.length === 0
      ? 'map[string][]string(nil)'
      : `map[string][]string{${entries.map(([key, values]) => `${goQuote(key)}:${texts(values)}`).join(', ')}}`
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${texts(groups)}, Extra:${shown}}`
}
