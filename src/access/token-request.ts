/**
 * TokenRequest: a fresh token of a service account, for audiences and a time, bound to a pod or secret if asked. The
 * request is a checked and defaulted object; what it refers to is looked up by the caller's reader.
 */
import { invalid } from '#api/field-error.ts'
import { refuseUnfitName } from '#api/name-parameter.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { badRequest, conflict, invalidObject, notFound } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import {
  extendedSeconds,
  type TokenMint,
  warnOnlySeconds,
} from './authenticate/service-account-token.ts'

export interface TokenRequestSettings {
  readonly apiAudiences: readonly string[]
  /** 0 for no limit. */
  readonly expirationSecondsMax: number
  /** Whether tokens of pods may outlive what was asked for, so that old clients that never read them anew go on. */
  readonly extendExpiration: boolean
}

const secondsMin = 10 * 60
const secondsMax = 2 ** 32

/** Throws what is wrong with the request itself. */
export function checkTokenRequest(request: KubeObject): void {
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
  if (errors.length > 0)
    throw invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', errors)
}

/** Spec and status of the answer to a checked request. `now`: milliseconds. */
export async function answerTokenRequest(
  request: KubeObject,
  namespace: string,
  name: string,
  reader: ObjectReader,
  mint: TokenMint,
  settings: TokenRequestSettings,
  now: number,
): Promise<{ spec: Loose; status: Loose }> {
  const account = await reader.get('', 'serviceaccounts', namespace, name)
  if (account === undefined) throw notFound({ group: '', plural: 'serviceaccounts' }, name)
  const reference: Loose | undefined = request.spec?.boundObjectRef ?? undefined
  const bound = reference && (await boundObject(reference, namespace, name, reader))
  const asked: number = request.spec.expirationSeconds
  const limit = settings.expirationSecondsMax
  const seconds = limit > 0 && asked > limit ? limit : asked
  const given: string[] = request.spec.audiences ?? []
  const audiences = given.length > 0 ? given : settings.apiAudiences
  const extended =
    settings.extendExpiration && bound?.pod !== undefined && seconds === warnOnlySeconds
  const token = mint.bound(
    {
      account,
      ...bound,
      audiences,
      expirationSeconds: extended ? extendedSeconds : seconds,
      warnAfterSeconds: extended ? seconds : 0,
    },
    now,
  )
  const expires = new Date((Math.floor(now / 1000) + seconds) * 1000)
  return {
    spec: {
      ...request.spec,
      audiences: audiences.length > 0 ? [...audiences] : null,
      expirationSeconds: seconds,
      boundObjectRef: reference ?? null,
    },
    status: { token, expirationTimestamp: expires.toISOString().replace('.000Z', 'Z') },
  }
}

/** What is no version at all is none of no group. */
function groupAndVersion(apiVersion: string): [group: string, version: string] {
  const [first = '', second, ...more] = apiVersion.split('/')
  if (more.length > 0) return ['', '']
  return second === undefined ? ['', first] : [first, second]
}

async function boundObject(
  reference: Loose,
  namespace: string,
  account: string,
  reader: ObjectReader,
): Promise<{ pod?: KubeObject; secret?: KubeObject }> {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference
  const [group, version] = groupAndVersion(apiVersion)
  if (group !== '' || (kind !== 'Pod' && kind !== 'Secret')) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  }
  const plural = kind === 'Pod' ? 'pods' : 'secrets'
  refuseUnfitName(name)
  const object = await reader.get('', plural, namespace, name)
  if (object === undefined) throw notFound({ group: '', plural }, name)
  if (kind === 'Pod' && object.spec?.serviceAccountName !== account)
    throw badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    )
  if (uid !== '' && uid !== object.metadata.uid)
    throw conflict(
      { group: '', plural: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  return kind === 'Pod' ? { pod: object } : { secret: object }
}
