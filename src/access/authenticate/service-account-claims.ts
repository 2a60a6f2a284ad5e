/**
 * Parses the claims of verified service account tokens, legacy or bound, into one shape. A claim of
 * the wrong type makes the token invalid.
 */
import type { Loose } from '#api/object-meta.ts'
import { splitServiceAccountName } from '#access/service-account-name.ts'
import { legacyClaims } from './service-account-token.ts'

export interface Reference {
  readonly name: string
  readonly uid: string
}

export interface AccountClaims {
  readonly legacy: boolean
  readonly subject: string
  readonly namespace: string
  readonly account: Reference
  /** The uid is empty for a legacy token; the token in the Secret is compared instead. */
  readonly secret: Reference | undefined
  readonly pod: Reference | undefined
  /** The node of the pod, or the node that the token is bound to. */
  readonly node: Reference | undefined
  /** The `jti` claim. Empty without one. */
  readonly id: string
  /** Empty if the token has no audience. */
  readonly audiences: readonly string[]
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly expires: number
  /** After this time each use is reported as stale; 0 means never. */
  readonly warnAfter: number
}

export class ClaimsError extends Error {
  override name = 'ClaimsError'
}

const malformed = () => new ClaimsError('Token could not be validated.')
const noDate = () =>
  new ClaimsError('square/go-jose/jwt: expected number value to unmarshal NumericDate')
const noAudience = () =>
  new ClaimsError('square/go-jose/jwt: expected string or array value to unmarshal to Audience')

/** Throws ClaimsError if a claim is invalid. */
export function legacyAccountClaims(claims: Loose): AccountClaims {
  requireDates(claims)
  const subject = text(claims, 'sub')
  const namespace = text(claims, legacyClaims.namespace)
  const secretName = text(claims, legacyClaims.secretName)
  const name = text(claims, legacyClaims.accountName)
  const uid = text(claims, legacyClaims.accountUid)
  const missing = (what: string) => new ClaimsError(`${what} claim is missing`)
  if (subject === '') throw missing('sub')
  if (namespace === '') throw missing('namespace')
  if (secretName === '') throw missing('secretName')
  if (name === '') throw missing('serviceAccountName')
  if (uid === '') throw missing('serviceAccountUID')
  const named = splitServiceAccountName(subject)
  if (named?.namespace !== namespace || named.name !== name)
    throw new ClaimsError('sub claim is invalid')
  return {
    legacy: true,
    subject,
    namespace,
    account: { name, uid },
    secret: { name: secretName, uid: '' },
    pod: undefined,
    node: undefined,
    id: '',
    audiences: audiencesOf(claims),
    notBefore: 0,
    expires: Number.POSITIVE_INFINITY,
    warnAfter: 0,
  }
}

export function boundAccountClaims(claims: Loose): AccountClaims {
  requireDates(claims)
  const own = object(claims['kubernetes.io'])
  const account = object(own.serviceaccount)
  return {
    legacy: false,
    subject: text(claims, 'sub'),
    namespace: text(own, 'namespace'),
    account: { name: text(account, 'name'), uid: text(account, 'uid') },
    secret: reference(own.secret),
    pod: reference(own.pod),
    node: reference(own.node),
    id: text(claims, 'jti'),
    audiences: audiencesOf(claims),
    notBefore: date(claims, 'nbf'),
    // A bound token without an expiration counts as expired.
    expires: date(claims, 'exp'),
    warnAfter: date(own, 'warnafter'),
  }
}

function text(from: Loose, name: string): string {
  const value = from[name] ?? ''
  if (typeof value !== 'string') throw malformed()
  return value
}

/** Milliseconds since 1970; 0 if absent. */
function date(from: Loose, name: string): number {
  const value = from[name] === undefined ? 0 : from[name]
  if (typeof value !== 'number') throw noDate()
  return Math.floor(value) * 1000
}

/** Time claims must be valid times, even if they are not used. */
function requireDates(claims: Loose): void {
  for (const name of ['exp', 'iat', 'nbf']) date(claims, name)
}

function object(value: unknown): Loose {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw malformed()
  return value as Loose
}

function reference(value: unknown): Reference | undefined {
  if (value === undefined || value === null) return undefined
  const fields = object(value)
  return { name: text(fields, 'name'), uid: text(fields, 'uid') }
}

/** `aud` can be one string instead of a list. */
function audiencesOf({ aud }: Loose): string[] {
  if (aud === undefined) return []
  const list = Array.isArray(aud) ? aud : [aud]
  if (!list.every((one) => typeof one === 'string')) throw noAudience()
  return list
}
