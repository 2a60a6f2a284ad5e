/** Makes the AdmissionReview for a webhook, and validates the response. Pure. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { AdmissionRequest } from '#admission/admission.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { conform } from '#schema/conform.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Answered } from './hook-client.ts'
import type { Versioned } from './versioned.ts'

/** Loaded for unusual responses, which are decoded by their type. */
const loadGoJson = loadLater<typeof import('#codec/go-json/decode.ts')>(
  import.meta.url,
  '#codec/go-json/decode',
)
const loadType = loadLater<typeof import('./review-type.ts')>(import.meta.url, './review-type')

export type ReviewVersion = 'v1' | 'v1beta1'

export interface ReviewResult {
  readonly allowed: boolean
  readonly patch: string
  readonly patchType: string
  readonly result: Loose | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** The first version that both the webhook and this server support. */
export function reviewVersionOf(versions: readonly string[]): ReviewVersion {
  const known = versions.find((version) => version === 'v1' || version === 'v1beta1')
  if (known !== undefined) return known as ReviewVersion
  throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)')
}

export const kindOf = ({ group, version, kind }: Kind) => ({ group, version, kind })
export const resourceOf = ({ group, version, plural }: Kind) => ({
  group,
  version,
  resource: plural,
})

/** The body of the call; the objects are inserted as existing text. */
export function reviewText(
  version: ReviewVersion,
  uid: string,
  request: AdmissionRequest,
  versioned: Versioned,
  release: number,
): string {
  const { kind, subresource, operation, dryRun } = request
  const name =
    !releaseOf(release).has(namesNewObjects) && !isNamedOfOld(request) ? '' : request.name
  const namespace = namespaceOf(request, release)
  const own = ownKindOf(request)
  const start = {
    uid,
    kind: own ?? kindOf(versioned.kind),
    resource: resourceOf(versioned.kind),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: own ?? kindOf(kind),
    requestResource: resourceOf(kind),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userInfoOf(request),
  }
  const head = JSON.stringify(start).slice(0, -1)
  const options = JSON.stringify(optionsOf(request))
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","request":${head},"object":${versioned.objectText},"oldObject":${versioned.oldText},"dryRun":${dryRun},"options":${options}}}`
}

const namesNewObjects = change('a webhook gets the name of a new object', { since: 16 })
const namespacesAreInThemselves = change('a webhook gets the namespace of a new namespace', {
  since: 20,
})

/**
 * In older releases a new object had a name only if the URL contained it, and not every body was
 * compared with its URL.
 */
const isNamedOfOld = ({ operation, subresource, isNamed }: AdmissionRequest): boolean =>
  operation !== 'CREATE' ||
  (isNamed === true && subresource !== 'binding' && subresource !== 'eviction')

export function namespaceOf(request: AdmissionRequest, release: number): string {
  const { namespace, kind, name, operation, object } = request
  if (
    namespace !== '' ||
    operation !== 'CREATE' ||
    !releaseOf(release).has(namespacesAreInThemselves)
  )
    return namespace
  // An object with generateName has no name yet at this point.
  const isInItself = kind.group === '' && kind.plural === 'namespaces'
  return isInItself && !object?.metadata.generateName ? name : ''
}

/** The kind of a body that differs from the resource's: evictions, tokens. */
export function ownKindOf({ object, kind }: AdmissionRequest): Loose | undefined {
  if (object?.kind === undefined || object.kind === kind.resource.hub.kind) return undefined
  const { apiVersion = '' } = object
  return { group: groupOf(apiVersion), version: versionOf(apiVersion), kind: object.kind }
}

export function userInfoOf({ user: { name, uid, groups, extra } }: AdmissionRequest): Loose {
  return {
    ...(name !== '' && { username: name }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

const optionKinds: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
}

export function optionsOf({ operation, dryRun, options }: AdmissionRequest): Loose | null {
  const kind = optionKinds[operation]
  if (kind === undefined) return null
  const {
    uid,
    resourceVersion,
    gracePeriodSeconds,
    orphanDependents,
    propagationPolicy,
    fieldManager,
  } = options
  const conditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
  const conditional = options.preconditions || Object.keys(conditions).length > 0
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(conditional && { preconditions: conditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun && { dryRun: ['All'] }),
    ...(fieldManager && { fieldManager }),
  }
}

/**
 * Decodes a response as an AdmissionReview of the requested version. Throws an Error with the
 * reason if that fails.
 */
export function reviewIn(version: ReviewVersion, { review, json }: Answered): Loose {
  const { apiVersion, kind } = review
  const isPlain = kind === 'AdmissionReview' && apiVersion === `admission.k8s.io/${version}`
  if (!isPlain) requireKnown(String(apiVersion ?? ''), String(kind ?? ''), version)
  if (isPlain && fits(review.response)) return review
  const read = loadGoJson().readGoJson(Buffer.from(json), loadType().reviewType(version))
  if ('fault' in read) throw new Error(read.fault)
  if (!isPlain) requireConvertible(String(apiVersion ?? ''), String(kind ?? ''), version)
  return read.value as Loose
}

const group = 'admission.k8s.io'
const known = new Set([
  `${group}/v1 AdmissionReview`,
  `${group}/v1beta1 AdmissionReview`,
  'v1 Status',
])

/** An omitted member has the requested value. */
function requireKnown(apiVersion: string, kind: string, version: ReviewVersion): void {
  const stated = apiVersion || `${group}/${version}`
  const named = kind || 'AdmissionReview'
  if (known.has(`${stated} ${named}`)) return
  throw new Error(
    `no kind ${goQuote(named)} is registered for version ${goQuote(stated)} in scheme "pkg/runtime/scheme.go:100"`,
  )
}

function requireConvertible(apiVersion: string, kind: string, version: ReviewVersion): void {
  const stated = apiVersion || `${group}/${version}`
  if (stated === `${group}/${version}`) return
  const name = `${stated.replace(/^.*\//, '')}.${kind || 'AdmissionReview'}`
  throw new Error(`converting (${name}) to (${version}.AdmissionReview): unknown conversion`)
}

/** Fast path for most responses: only known fields, each with the right type. */
function fits(response: unknown): boolean {
  if (typeof response !== 'object' || response === null || Array.isArray(response)) return false
  const { uid, allowed, patch, patchType, status, auditAnnotations, warnings } = response as Loose
  return (
    typeof uid === 'string' &&
    typeof allowed === 'boolean' &&
    isText(patch) &&
    isBase64(patch ?? '') &&
    isText(patchType) &&
    status == null &&
    auditAnnotations == null &&
    warnings == null
  )
}

const isText = (value: unknown): boolean => value == null || typeof value === 'string'
const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** Throws an error with the reason if the response is invalid. */
export function readVerdict(
  version: ReviewVersion,
  uid: string,
  mutating: boolean,
  review: Loose,
): ReviewResult {
  const { response } = review
  if (response == null) throw new Error('webhook response was absent')
  if (version === 'v1') requireSameReview(uid, review)
  const { patchType, allowed, status, warnings, auditAnnotations } = response
  const patch: string = response.patch ?? ''
  const verdict = {
    allowed: allowed === true,
    patch: '',
    patchType: '',
    result: status == null ? undefined : (conform(loadType().status, status).value as Loose),
    warnings: warnings ?? [],
    auditAnnotations: auditAnnotations ?? {},
  }
  if (!mutating) {
    if (version === 'v1beta1') return verdict
    if (patch !== '') throw new Error('validating webhook may not return response.patch')
    if (patchType != null) throw new Error('validating webhook may not return response.patchType')
    return verdict
  }
  if (version === 'v1beta1')
    return { ...verdict, patch, patchType: patch === '' ? '' : 'JSONPatch' }
  if (patch !== '' && patchType == null)
    throw new Error('webhook returned response.patch but not response.patchType')
  if (patch === '' && patchType != null)
    throw new Error('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""')
  return { ...verdict, patch, patchType: patchType ?? '' }
}

function requireSameReview(uid: string, { response, apiVersion = '', kind = '' }: Loose): void {
  if (response.uid !== uid) {
    throw new Error(
      `expected response.uid=${goQuote(uid)}, got ${goQuote(String(response.uid ?? ''))}`,
    )
  }
  if (apiVersion === 'admission.k8s.io/v1' && kind === 'AdmissionReview') return
  const stated = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  throw new Error(
    `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${stated}, Kind=${kind}`,
  )
}
