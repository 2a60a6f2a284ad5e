/**
 * Derives the user from the claims of a verified token. The mappings and rules of the token's
 * issuer decide which claims become the name, groups, uid and extra fields.
 */
import { type AccessExpression, stringsIn } from '#access/access-expression.ts'
import type { User } from '#access/user.ts'
import type { Loose } from '#api/object-meta.ts'
import { type CelError, isError, type Value } from '#cel/values.ts'
import type { ClaimMapping, JwtIssuer, ValidationRule } from './jwt-configuration.ts'

/** The signature is valid, but a mapping or rule rejects the claims. The message is complete. */
export class ClaimsRejection extends Error {}

export type ClaimRules = Omit<
  JwtIssuer,
  'url' | 'discoveryUrl' | 'audiences' | 'certificateAuthority'
> & { readonly showsTokenId: boolean }

/** Throws ClaimsRejection. */
export function userFrom(claims: Loose, rules: ClaimRules): User {
  const name = nameOf(claims, rules.username)
  const groups = rules.groups === undefined ? [] : groupsOf(claims, rules.groups)
  const uid = uidOf(claims, rules.uid)
  const extra = extraOf(claims, rules)
  requireClaims(claims, rules.requiredClaims)
  const validates = 'oidc: error evaluating claim validation expression'
  checkRules(rules.claimRules, claims, validates)
  const user = { name, uid, groups, extra }
  const shown = { username: name, uid, groups, extra }
  checkRules(rules.userRules, shown, 'oidc: error evaluating user info validation rule')
  return user
}

const claimOf = (claims: Loose, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

function textOf(claims: Loose, name: string, what: string): string {
  const value = claimOf(claims, name)
  if (typeof value === 'string') return value
  const why = value === undefined ? 'claim not present' : 'not a string'
  throw new ClaimsRejection(`oidc: parse ${what} ${JSON.stringify(name)}: ${why}`)
}

type Mapped = Extract<ClaimMapping, { expression: AccessExpression }>

function evaluated(mapping: Mapped, claims: Loose, what: string): Value {
  const value = mapping.expression.evaluate(claims)
  if (isError(value))
    throw new ClaimsRejection(
      `oidc: error evaluating ${what} claim expression: ${shown(mapping, value)}`,
    )
  return value
}

const shown = ({ expression }: { expression: { text: string } }, { message }: CelError): string =>
  `expression '${expression.text}' resulted in error: ${message}`

function nameOf(claims: Loose, mapping: ClaimMapping): string {
  if ('expression' in mapping) {
    const name = evaluated(mapping, claims, 'username')
    if (typeof name !== 'string') {
      const why = 'username claim expression must return a string'
      throw new ClaimsRejection(`oidc: error evaluating username claim expression: ${why}`)
    }
    if (name === '')
      throw new ClaimsRejection('oidc: empty username via CEL expression is not allowed')
    return name
  }
  const name = textOf(claims, mapping.claim, 'username claims')
  const verified = claimOf(claims, 'email_verified')
  if (mapping.claim === 'email' && verified !== undefined) {
    if (typeof verified !== 'boolean')
      throw new ClaimsRejection("oidc: parse 'email_verified' claim: not a boolean")
    if (!verified) throw new ClaimsRejection('oidc: email not verified')
  }
  return mapping.prefix + name
}

/** A list of strings, or a single one. */
function groupsOf(claims: Loose, mapping: ClaimMapping): string[] {
  if ('expression' in mapping) {
    const value = evaluated(mapping, claims, 'group')
    return listIn(() => stringsIn(value), 'oidc: error evaluating group claim expression')
  }
  const { claim, prefix } = mapping
  if (!Object.hasOwn(claims, claim)) {
    refuseDistributed(claims, claim)
    return []
  }
  const groups = claims[claim] ?? []
  const list: unknown[] = Array.isArray(groups) ? groups : [groups]
  if (!list.every((group) => typeof group === 'string'))
    throw new ClaimsRejection(`oidc: parse groups claim ${JSON.stringify(claim)}: not strings`)
  return (list as string[]).map((group) => prefix + group)
}

function listIn(read: () => string[], where: string): string[] {
  try {
    return read()
  } catch (error) {
    throw new ClaimsRejection(`${where}: ${(error as Error).message}`)
  }
}

/** Distributed claims refer to groups at a URL in the token. The server does not fetch them. */
function refuseDistributed({ _claim_names: sources }: Loose, name: string): void {
  if (typeof sources !== 'object' || sources === null || !Object.hasOwn(sources, name)) return
  throw new ClaimsRejection(
    `oidc: could not expand distributed claims: the claim ${JSON.stringify(name)} is distributed, which is not supported`,
  )
}

function uidOf(claims: Loose, mapping: ClaimMapping | undefined): string {
  if (mapping === undefined) return ''
  if (!('expression' in mapping)) return textOf(claims, mapping.claim, 'uid claim')
  const uid = evaluated(mapping, claims, 'uid')
  if (typeof uid === 'string') return uid
  const why = 'uid claim expression must return a string'
  throw new ClaimsRejection(`oidc: error evaluating uid claim expression: ${why}`)
}

function extraOf(claims: Loose, { extra, showsTokenId }: ClaimRules): User['extra'] {
  const found: Record<string, string[]> = {}
  const id = claimOf(claims, 'jti')
  if (showsTokenId && typeof id === 'string' && id !== '')
    found['authentication.kubernetes.io/credential-id'] = [`JTI=${id}`]
  for (const { key, expression } of extra) {
    const where = `oidc: error evaluating extra claim expression: ${expression.text}`
    const values = listIn(() => stringsIn(expression.evaluate(claims)), where)
    if (values.length > 0) found[key] = values
  }
  return found
}

function requireClaims(claims: Loose, required: ReadonlyMap<string, string>): void {
  for (const [name, wanted] of required) {
    if (!Object.hasOwn(claims, name))
      throw new ClaimsRejection(`oidc: required claim ${name} not present in ID token`)
    if (typeof claims[name] !== 'string')
      throw new ClaimsRejection(`oidc: parse claim ${name}: not a string`)
    if (claims[name] !== wanted)
      throw new ClaimsRejection(`oidc: required claim ${name} value does not match`)
  }
}

function checkRules(rules: readonly ValidationRule[], of: Loose, where: string): void {
  for (const { expression, message } of rules) {
    const value = expression.evaluate(of)
    if (isError(value)) throw new ClaimsRejection(`${where}: ${shown({ expression }, value)}`)
    if (value === true) continue
    throw new ClaimsRejection(
      `${where}: validation expression '${expression.text}' failed: ${message}`,
    )
  }
}
