/**
 * The variable `authorizer`:
 * `authorizer.group('apps').resource('deployments').namespace('a').check('create')`.
 *
 * An evaluation is synchronous and a decision may need a webhook. So `check` looks for a decision
 * that is known already; if there is none, it throws PendingDecision. The caller waits for that
 * decision and evaluates again.
 */
import { nameIsDnsLabel, nameIsDnsSubdomain } from '#api/names.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { CelError, OpaqueValue, overloadError, type Value } from '#cel/values.ts'

/** What `check` wants to know about the user of an authorizer. */
export interface AccessCheck {
  /** A service account instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly verb: string
  /** Set for a path that is no resource. */
  readonly path?: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly fieldSelector: string
  readonly labelSelector: string
}

export interface AccessDecision {
  readonly allowed: boolean
  readonly reason: string
  readonly error?: string
}

/** Decisions that are known. */
export interface AccessDecisions {
  find(check: AccessCheck): AccessDecision | undefined
}

/** Thrown by `check` when the decision is not known yet. */
export class PendingDecision extends Error {
  readonly check: AccessCheck
  constructor(check: AccessCheck) {
    super('an authorization decision is pending')
    this.check = check
  }
}

const noResource = {
  ...{ group: '', resource: '', subresource: '', namespace: '', name: '' },
  ...{ fieldSelector: '', labelSelector: '' },
}

type CheckKind = 'Authorizer' | 'PathCheck' | 'GroupCheck' | 'ResourceCheck'

/** An authorizer, or one with a path, a group or a resource already chosen. */
export class AuthorizerValue extends OpaqueValue {
  readonly typeName: string
  readonly kind: CheckKind
  readonly check: Omit<AccessCheck, 'verb'>
  readonly decisions: AccessDecisions
  constructor(
    decisions: AccessDecisions,
    kind: CheckKind = 'Authorizer',
    check: Omit<AccessCheck, 'verb'> = noResource,
  ) {
    super()
    this.typeName = `kubernetes.authorization.${kind}`
    this.kind = kind
    this.decisions = decisions
    this.check = check
  }
  with(kind: CheckKind, part: Partial<AccessCheck>): AuthorizerValue {
    return new AuthorizerValue(this.decisions, kind, { ...this.check, ...part })
  }
  equals(other: Value): boolean | CelError {
    return overloadError(other)
  }
}

class DecisionValue extends OpaqueValue {
  readonly typeName = 'kubernetes.authorization.Decision'
  readonly decision: AccessDecision
  constructor(decision: AccessDecision) {
    super()
    this.decision = decision
  }
  equals(other: Value): boolean | CelError {
    return overloadError(other)
  }
}

/** A function that chooses one part of a check. */
const choose =
  (
    from: CheckKind,
    call: (value: AuthorizerValue, text: string, second: string) => Value,
  ): Implementation =>
  (value, text, second) =>
    value instanceof AuthorizerValue && value.kind === from && typeof text === 'string'
      ? call(value, text, second as string)
      : overloadError(value)

const part = (name: keyof AccessCheck): Implementation =>
  choose('ResourceCheck', (value, text) => value.with('ResourceCheck', { [name]: text }))

function serviceAccount(value: AuthorizerValue, namespace: string, name: string): Value {
  if (nameIsDnsSubdomain(name, false).length > 0)
    return new CelError('Invalid service account name')
  if (nameIsDnsLabel(namespace, false).length > 0)
    return new CelError('Invalid service account namespace')
  return value.with('Authorizer', { serviceAccount: { namespace, name } })
}

function decide(value: AuthorizerValue, verb: string): Value {
  const check = { ...value.check, verb }
  const decision = value.decisions.find(check)
  if (decision === undefined) throw new PendingDecision(check)
  return new DecisionValue(decision)
}

const ofDecision =
  (read: (decision: AccessDecision) => Value): Implementation =>
  (value) =>
    value instanceof DecisionValue ? read(value.decision) : overloadError(value)

export const authorizerImplementations: readonly (readonly [string, Implementation])[] = [
  [
    'authorizer_path',
    choose('Authorizer', (value, path) =>
      path.trim() === ''
        ? new CelError('path must not be empty')
        : value.with('PathCheck', { path }),
    ),
  ],
  ['authorizer_group', choose('Authorizer', (value, group) => value.with('GroupCheck', { group }))],
  ['authorizer_serviceaccount', choose('Authorizer', serviceAccount)],
  [
    'groupcheck_resource',
    choose('GroupCheck', (value, resource) =>
      resource.trim() === ''
        ? new CelError('resource must not be empty')
        : value.with('ResourceCheck', { resource }),
    ),
  ],
  ['resourcecheck_subresource', part('subresource')],
  ['resourcecheck_namespace', part('namespace')],
  ['resourcecheck_name', part('name')],
  ['authorizer_fieldselector', part('fieldSelector')],
  ['authorizer_labelselector', part('labelSelector')],
  ['pathcheck_check', choose('PathCheck', decide)],
  ['resourcecheck_check', choose('ResourceCheck', decide)],
  ['decision_errored', ofDecision(({ error }) => error !== undefined)],
  ['decision_error', ofDecision(({ error }) => error ?? '')],
  ['decision_allowed', ofDecision(({ allowed }) => allowed)],
  ['decision_reason', ofDecision(({ reason }) => reason)],
]
