/** The AdmissionReview that is sent, and what an answer to it must look like. Pure. */
import type { AdmissionRequest } from '#admission/admission.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Versioned } from './versioned.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

export interface Verdict {
  readonly allowed: boolean
  readonly patch: string
  readonly patchType: string
  readonly result: Loose | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** The first version that the webhook understands and so do we. */
export function reviewVersionOf(versions: readonly string[]): ReviewVersion {
  const known = versions.find((version) => version === 'v1' || version === 'v1beta1')
  if (known !== undefined) return known as ReviewVersion
  throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)')
}

const kindOf = ({ group, version, kind }: Kind) => ({ group, version, kind })
const resourceOf = ({ group, version, plural }: Kind) => ({ group, version, resource: plural })

/** The body of the call: the objects are put in as the text they already are. */
export function reviewText(
  version: ReviewVersion,
  uid: string,
  request: AdmissionRequest,
  versioned: Versioned,
  release: number,
): string {
  const { kind, subresource, name, operation, dryRun } = request
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

/** The first release in which a new namespace is said to be in itself, as one that is there always was. */
const inItselfSince = 20

function namespaceOf(request: AdmissionRequest, release: number): string {
  const { namespace, kind, name, operation } = request
  if (namespace !== '' || operation !== 'CREATE' || release < inItselfSince) return namespace
  return kind.group === '' && kind.plural === 'namespaces' ? name : ''
}

/** The kind of a body that is not the resource's: evictions, tokens. */
function ownKindOf({ object, kind }: AdmissionRequest): Loose | undefined {
  if (object?.kind === undefined || object.kind === kind.resource.hub.kind) return undefined
  const [version, group = ''] = (object.apiVersion ?? '').split('/').reverse()
  return { group, version, kind: object.kind }
}

function userInfoOf({ user: { name, uid, groups, extra } }: AdmissionRequest): Loose {
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

function optionsOf({ operation, dryRun, options }: AdmissionRequest): Loose | null {
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
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun && { dryRun: ['All'] }),
    ...(fieldManager && { fieldManager }),
  }
}

/** Throws where the answer is none: the words say what is wrong with it. */
export function readVerdict(
  version: ReviewVersion,
  uid: string,
  mutating: boolean,
  review: Loose,
): Verdict {
  const { response } = review
  if (typeof response !== 'object' || response === null)
    throw new Error('webhook response was absent')
  if (version === 'v1') requireSameReview(uid, review)
  checkTypes(response)
  const { patch = '', patchType, allowed, status, warnings, auditAnnotations } = response
  const verdict = {
    allowed: allowed === true,
    patch: '',
    patchType: '',
    result: status ?? undefined,
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
  const said = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  throw new Error(
    `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${said}, Kind=${kind}`,
  )
}

/** What Go would fail to read into the fields of a response. */
function checkTypes(response: Loose): void {
  const wrong = (field: string, value: unknown, type: string): never => {
    const found = Array.isArray(value)
      ? 'array'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value
    throw new Error(
      `json: cannot unmarshal ${found} into Go struct field AdmissionResponse.response.${field} of type ${type}`,
    )
  }
  const { allowed, patch, patchType, warnings, auditAnnotations, status } = response
  if (allowed != null && typeof allowed !== 'boolean') wrong('allowed', allowed, 'bool')
  if (patch != null && typeof patch !== 'string') wrong('patch', patch, '[]uint8')
  if (patchType != null && typeof patchType !== 'string')
    wrong('patchType', patchType, 'v1.PatchType')
  if (warnings != null && !Array.isArray(warnings)) wrong('warnings', warnings, '[]string')
  for (const warning of warnings ?? [])
    if (typeof warning !== 'string') wrong('warnings', warning, 'string')
  if (status != null && (typeof status !== 'object' || Array.isArray(status)))
    wrong('status', status, 'v1.Status')
  if (auditAnnotations == null) return
  if (typeof auditAnnotations !== 'object' || Array.isArray(auditAnnotations)) {
    wrong('auditAnnotations', auditAnnotations, 'map[string]string')
  }
  for (const value of Object.values(auditAnnotations)) {
    if (typeof value !== 'string') wrong('auditAnnotations', value, 'string')
  }
}
