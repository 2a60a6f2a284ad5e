/**
 * TokenRequest issues a token for a service account, with audiences and an expiration. The client
 * can bind it to a Pod, Secret or Node. The request object is already validated and defaulted;
 * referenced objects are read with the caller's reader.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { refuseUnfitName } from '#api/name-parameter.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { badRequest, conflict, invalidObject, notFound } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import {
  extendedSeconds,
  type TokenMint,
  warnOnlySeconds,
} from './authenticate/service-account-token.ts'

export interface TokenRequestSettings {
  readonly apiAudiences: readonly string[]
  /** 0 means no limit. */
  readonly expirationSecondsMax: number
  /**
   * Whether tokens of pods may have a longer lifetime than requested. Old clients that never reload
   * their token then continue to work.
   */
  readonly extendExpiration: boolean
}

export interface TokenRules {
  readonly release: Release
  readonly feature: (gate: string) => boolean
  readonly newUid: () => string
  readonly warnings: string[]
  readonly auditAnnotations: Map<string, string>
}

const checksMetadata = change('a token request names its account in its metadata', { since: 24 })
const answersUid = change('a token request answers the uid of its account', { since: 34 })
const warnsOfShorter = change('a client is warned of a token that lives shorter than requested', {
  since: 24,
})
const extendsOwnOnly = change('only tokens for the API server outlive what was requested', {
  since: 24,
})

const secondsMin = 10 * 60
const secondsMax = 2 ** 32

const kind = { group: 'authentication.k8s.io', kind: 'TokenRequest' }

/**
 * Finds the service account and writes its name into the request. Throws if the request itself is
 * invalid.
 */
export async function checkTokenRequest(
  request: KubeObject,
  namespace: string,
  name: string,
  reader: ObjectReader,
  rules: TokenRules,
): Promise<void> {
  if (rules.release.has(checksMetadata))
    await settleMetadata(request, namespace, name, reader, rules)
  const seconds: number = request.spec?.expirationSeconds ?? 0
  const field = 'spec.expirationSeconds'
  const errors = [
    ...(seconds < secondsMin
      ? [invalid(field, seconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(seconds > secondsMax
      ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
  ]
  if (errors.length > 0) throw invalidObject(kind, '', errors)
}

async function settleMetadata(
  { metadata }: KubeObject,
  namespace: string,
  name: string,
  reader: ObjectReader,
  rules: TokenRules,
): Promise<void> {
  const refuse = (error: FieldError) => invalidObject(kind, name, [error])
  if (metadata.name && metadata.name !== name) {
    const detail = 'must match the service account name if specified'
    throw refuse(invalid('metadata.name', metadata.name, detail))
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    const detail = 'must match the service account namespace if specified'
    throw refuse(invalid('metadata.namespace', metadata.namespace, detail))
  }
  const account = await accountOf(namespace, name, reader)
  metadata.name = name
  metadata.namespace = namespace
  if (!rules.release.has(answersUid)) return
  const { uid } = account.metadata
  if (metadata.uid && metadata.uid !== uid) {
    const differs = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`
    if (rules.feature('TokenRequestServiceAccountUIDValidation'))
      throw conflict({ group: kind.group, plural: kind.kind }, name, differs)
    rules.auditAnnotations.set('authentication.k8s.io/token-request-uid-mismatch', differs)
    rules.warnings.push(
      `${differs} but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error`,
    )
  } else if (uid !== undefined) metadata.uid = uid
}

async function accountOf(namespace: string, name: string, reader: ObjectReader) {
  const account = await reader.get('', 'serviceaccounts', namespace, name)
  if (account === undefined) throw notFound({ group: '', plural: 'serviceaccounts' }, name)
  return account
}

/** Metadata, spec and status of the response to a validated request. `now` is in milliseconds. */
export async function answerTokenRequest(
  request: KubeObject,
  namespace: string,
  name: string,
  reader: ObjectReader,
  mint: TokenMint,
  settings: TokenRequestSettings,
  now: number,
  rules: TokenRules,
): Promise<{ metadata: Loose; spec: Loose; status: Loose }> {
  const account = await accountOf(namespace, name, reader)
  const reference: Loose | undefined = request.spec?.boundObjectRef ?? undefined
  const bound = reference && (await boundObject(reference, namespace, name, reader, rules))
  const seconds = secondsOf(request, settings, rules)
  const given: string[] = request.spec.audiences ?? []
  const audiences = given.length > 0 ? given : settings.apiAudiences
  const isOwn =
    !rules.release.has(extendsOwnOnly) ||
    audiences.every((one) => settings.apiAudiences.includes(one))
  const extended =
    settings.extendExpiration && bound?.pod !== undefined && seconds === warnOnlySeconds && isOwn
  const id = rules.feature('ServiceAccountTokenJTI') ? rules.newUid() : undefined
  const token = mint.bound(
    {
      account,
      ...bound,
      id,
      audiences,
      expirationSeconds: extended ? extendedSeconds : seconds,
      warnAfterSeconds: extended ? seconds : 0,
    },
    now,
  )
  if (id !== undefined)
    rules.auditAnnotations.set('authentication.kubernetes.io/issued-credential-id', `JTI=${id}`)
  const timestamp = (milliseconds: number) =>
    new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().replace('.000Z', 'Z')
  return {
    metadata: rules.release.has(checksMetadata) ? { creationTimestamp: timestamp(now) } : {},
    spec: {
      ...request.spec,
      audiences: audiences.length > 0 ? [...audiences] : null,
      expirationSeconds: seconds,
      boundObjectRef: reference ?? null,
    },
    status: { token, expirationTimestamp: timestamp(now + seconds * 1000) },
  }
}

function secondsOf(
  { spec }: KubeObject,
  settings: TokenRequestSettings,
  rules: TokenRules,
): number {
  const wanted: number = spec.expirationSeconds
  const limit = settings.expirationSecondsMax
  if (limit <= 0 || wanted <= limit) return wanted
  if (rules.release.has(warnsOfShorter))
    rules.warnings.push(`requested expiration of ${wanted} seconds shortened to ${limit} seconds`)
  return limit
}

/** An apiVersion with more than one slash yields an empty group and version. */
function groupAndVersion(apiVersion: string): [group: string, version: string] {
  const [first = '', second, ...more] = apiVersion.split('/')
  if (more.length > 0) return ['', '']
  return second === undefined ? ['', first] : [first, second]
}

interface Bound {
  readonly pod?: KubeObject
  readonly secret?: KubeObject
  readonly node?: KubeObject
}

const plurals: ReadonlyMap<string, string> = new Map([
  ['Pod', 'pods'],
  ['Secret', 'secrets'],
  ['Node', 'nodes'],
])
const bindsNodes = change('tokens can be bound to nodes', { since: 29 })

async function boundObject(
  reference: Loose,
  namespace: string,
  account: string,
  reader: ObjectReader,
  rules: TokenRules,
): Promise<Bound> {
  const { apiVersion = '', kind: named = '', name = '', uid = '' } = reference
  const [group, version] = groupAndVersion(apiVersion)
  const isNode = named === 'Node' && rules.release.has(bindsNodes)
  const plural = named === 'Node' && !isNode ? undefined : plurals.get(named)
  if (group !== '' || plural === undefined) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${named}`)
  }
  const gate = 'ServiceAccountTokenNodeBinding'
  if (isNode && !rules.feature(gate))
    throw badRequest(`cannot bind token to a Node object as the "${gate}" feature-gate is disabled`)
  refuseUnfitName(name)
  const object = await reader.get('', plural, isNode ? '' : namespace, name)
  if (object === undefined) throw notFound({ group: '', plural }, name)
  if (named === 'Pod' && object.spec?.serviceAccountName !== account)
    throw badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    )
  if (uid !== '' && uid !== object.metadata.uid)
    throw conflict(
      { group: '', plural: named },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (isNode) return { node: object }
  if (named === 'Secret') return { secret: object }
  return { pod: object, ...(await nodeOf(object, reader, rules)) }
}

/** The node of a pod. Only its name if the node does not exist. */
async function nodeOf(pod: KubeObject, reader: ObjectReader, { feature }: TokenRules) {
  const name: string = pod.spec?.nodeName ?? ''
  if (name === '' || !feature('ServiceAccountTokenPodNodeInfo')) return {}
  return { node: (await reader.get('', 'nodes', '', name)) ?? { metadata: { name } } }
}
