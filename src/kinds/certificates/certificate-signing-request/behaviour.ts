/**
 * CertificateSigningRequest: the server sets the requester; approval and issuing are separate
 * writes.
 */
import { requestsHaveSigners, conditionsHaveStatus } from '#kinds/stored-fields.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goJson } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { repeats, sameJson } from '#kinds/all-kinds/checks.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { certificateRequestProblem } from './certificate-request.ts'
import { certificateProblem } from './issued-certificate.ts'
import { keepConditions, stampConditions } from './request-conditions.ts'
import { checkSignerName } from './signer-name.ts'
import { usages } from './usages.ts'

const specPath = FieldPath.of('spec')
const conditionsPath = FieldPath.of('status', 'conditions')
const legacySigner = 'kubernetes.io/legacy-unknown'
const onlyTrue = ['Approved', 'Denied', 'Failed']
const expirationSecondsMin = 600

/** Relaxed rules of v1beta1, which existing objects may keep. */
interface Leniency {
  /** Before 1.18 requests had no signer. */
  readonly noSigner: boolean
  readonly legacySigner: boolean
  readonly anyUsage: boolean
  readonly usageTwice: boolean
  /** Before 1.19 conditions had no status, and were not validated. */
  readonly anyCondition: boolean
  readonly conditionTwice: boolean
  readonly untypedCondition: boolean
  readonly approvedAndDenied: boolean
  readonly anyCertificate: boolean
  readonly newCertificate: boolean
}

const missingIsNamed = change('errors for a CSR name the missing field once more', { until: 25 })
const opposedAsWhole = change('approval and denial of one CSR is an error of its conditions', {
  since: 34,
})

const noName = (): string[] => []
const isBeta = (context: Context): boolean =>
  context.requestApiVersion === 'certificates.k8s.io/v1beta1'
const conditionsOf = (request?: KubeObject): Loose[] => request?.status?.conditions ?? []
const typesOf = (request?: KubeObject): string[] => conditionsOf(request).map((c) => c.type ?? '')
const hasTwice = (list: string[]): boolean => new Set(list).size < list.length
const bytesOf = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64')

function leniencyOf(context: Context, next: KubeObject, old?: KubeObject): Leniency {
  const beta = isBeta(context)
  const oldUsages: string[] = old?.spec?.usages ?? []
  const types = typesOf(old)
  const certificate = next.status?.certificate ?? ''
  const oldCertificate = old?.status?.certificate ?? ''
  return {
    noSigner: !releaseOf(context.release).has(requestsHaveSigners),
    legacySigner: beta || old?.spec?.signerName === legacySigner,
    anyUsage: beta || oldUsages.some((usage) => !usages.includes(usage)),
    usageTwice: beta || hasTwice(oldUsages),
    anyCondition: !releaseOf(context.release).has(conditionsHaveStatus),
    conditionTwice: beta || hasTwice(types),
    untypedCondition: beta || types.includes(''),
    approvedAndDenied: types.includes('Approved') && types.includes('Denied'),
    anyCertificate:
      beta ||
      (old !== undefined &&
        (certificate === oldCertificate ||
          certificateProblem(bytesOf(oldCertificate)) !== undefined)),
    newCertificate: beta,
  }
}

const goBytes = (text: string | undefined): string => {
  if (text === undefined || text === null) return '[]byte(nil)'
  const bytes = [...bytesOf(text)]
  return `[]byte{${bytes.map((byte) => `0x${byte.toString(16)}`).join(', ')}}`
}

function check(request: KubeObject, leniency: Leniency, minor: number): FieldError[] {
  const release = releaseOf(minor)
  const missing = (name: string) => (release.has(missingIsNamed) ? `${name} must be provided` : '')
  const spec = request.spec ?? {}
  const errors: FieldError[] = []
  const problem = certificateRequestProblem(bytesOf(spec.request))
  if (problem !== undefined) {
    errors.push(
      invalid(
        specPath.child('request'),
        asGo(goBytes(spec.request), goJson(spec.request)),
        problem,
      ),
    )
  }
  errors.push(...checkUsages(spec.usages ?? [], leniency, missing('usages')))
  const signer: string = spec.signerName ?? ''
  const signerPath = specPath.child('signerName')
  if (!leniency.legacySigner && signer === legacySigner) {
    const detail = 'the legacy signerName is not allowed via this API version'
    errors.push(invalid(signerPath, signer, detail))
  } else if (!leniency.noSigner)
    errors.push(...checkSignerName(signer, signerPath, missing('signerName')))
  const seconds: number | undefined = spec.expirationSeconds
  if (seconds !== undefined && seconds < expirationSecondsMin) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)'
    errors.push(invalid(specPath.child('expirationSeconds'), seconds, detail))
  }
  if (!leniency.anyCondition)
    errors.push(...checkConditions(conditionsOf(request), leniency, release))
  if (leniency.anyCertificate) return errors
  const wrong = certificateProblem(bytesOf(request.status?.certificate))
  if (wrong !== undefined) errors.push(invalid('status.certificate', '<certificate data>', wrong))
  return errors
}

function checkUsages(list: string[], leniency: Leniency, missing: string): FieldError[] {
  const path = specPath.child('usages')
  const errors: FieldError[] = list.length === 0 ? [required(path, missing)] : []
  for (const [i, usage] of list.entries()) {
    if (leniency.anyUsage || usages.includes(usage)) continue
    errors.push(notSupported(path.index(i), usage, usages))
  }
  const isRepeated = repeats(list)
  for (const [i, usage] of list.entries()) {
    if (leniency.usageTwice || !isRepeated[i]) continue
    errors.push(duplicate(path.index(i), usage))
  }
  return errors
}

function checkConditions(conditions: Loose[], leniency: Leniency, release: Release): FieldError[] {
  const types: string[] = conditions.map((condition) => condition.type ?? '')
  const isRepeated = repeats(types)
  const isFirstAt = new Map(types.map((type, i): [string, number] => [type, i]).reverse())
  return conditions.flatMap(({ type = '', status = '' }, i) => {
    const path = conditionsPath.index(i)
    const errors: FieldError[] = []
    if (type === '' && !leniency.untypedCondition) errors.push(required(path.child('type')))
    const allowed = onlyTrue.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (status === '') errors.push(required(path.child('status')))
    else if (!allowed.includes(status)) {
      errors.push(notSupported(path.child('status'), status, allowed))
    }
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    const isOpposed = opposite !== undefined && (isFirstAt.get(opposite) ?? i) < i
    if (!leniency.approvedAndDenied && isOpposed) {
      const detail = 'Approved and Denied conditions are mutually exclusive'
      const at = release.has(opposedAsWhole) ? conditionsPath : path.child('type')
      errors.push({ ...invalid(at, type, detail), origin: 'zeroOrOneOf' })
    }
    if (!leniency.conditionTwice && isRepeated[i]) {
      errors.push(duplicate(path.child('type'), type))
    }
    return errors
  })
}

type Writes = 'main' | 'status' | 'approval'

function checkUpdate(
  next: KubeObject,
  old: KubeObject,
  context: Context,
  writes: Writes,
): FieldError[] {
  const leniency = leniencyOf(context, next, old)
  const errors = [...checkMetadata(next, false, noName), ...check(next, leniency, context.release)]
  if (leniency.anyCondition) return [...errors, ...checkMetadataUpdate(next, old)]
  const of = (request: KubeObject, type: string) =>
    conditionsOf(request).filter((condition) => condition.type === type)
  for (const type of onlyTrue) {
    if (of(next, type).length >= of(old, type).length) continue
    errors.push(forbidden(conditionsPath, `updates may not remove a condition of type "${type}"`))
  }
  for (const type of writes === 'approval' ? [] : ['Approved', 'Denied']) {
    const [now, then] = [of(next, type), of(old, type)]
    if (now.length < then.length) continue
    if (now.length > then.length) {
      errors.push(forbidden(conditionsPath, `updates may not add a condition of type "${type}"`))
    } else if (!sameJson(now, then)) {
      const shown = goDifference(
        '[]certificates.CertificateSigningRequestCondition',
        { ...then },
        { ...now },
      )
      const detail = `updates may not modify a condition of type "${type}"\n${shown}`
      errors.push(forbidden(conditionsPath, detail))
    }
  }
  errors.push(...checkIssued(next, old, leniency, writes))
  return [...errors, ...checkMetadataUpdate(next, old)]
}

function checkIssued(
  next: KubeObject,
  old: KubeObject,
  leniency: Leniency,
  writes: Writes,
): FieldError[] {
  const [now, then] = [next.status?.certificate ?? '', old.status?.certificate ?? '']
  if (now === then) return []
  if (writes !== 'status') {
    return [forbidden('status.certificate', 'updates may not set certificate content')]
  }
  if (leniency.newCertificate || then === '') return []
  return [forbidden('status.certificate', 'updates may not modify existing certificate content')]
}

/** Sets the requester from the authenticated user, and overwrites the values in the request. */
function writeRequester(request: KubeObject, context: Context): void {
  const spec: Loose = (request.spec ??= {})
  for (const field of ['username', 'uid', 'groups', 'extra']) delete spec[field]
  const name = context.user?.name ?? context.userName
  if (name) spec.username = name
  if (!context.user) return
  const { uid, groups, extra } = context.user
  if (uid) spec.uid = uid
  if (groups.length > 0) spec.groups = [...groups]
  if (Object.keys(extra).length > 0) spec.extra = structuredClone(extra)
}

export const certificateSigningRequestBehaviour: Behaviour = {
  nameRule: noName,
  resetFields: [['spec'], ['status']],
  prepareForCreate(object, context) {
    writeRequester(object, context)
    if (!context.feature('CSRDuration')) delete object.spec.expirationSeconds
    object.status = {}
  },
  prepareForUpdate(next, old) {
    keepSpec(next, old)
    keepStatus(next, old)
  },
  validateCreate: (object, context) => check(object, leniencyOf(context, object), context.release),
  validateUpdate: (next, old, context) => checkUpdate(next, old, context, 'main'),
  selectableFields: (object) => ({ 'spec.signerName': object.spec?.signerName ?? '' }),
  subresources: {
    status: {
      resetFields: [['spec'], ['status', 'conditions']],
      prepareForUpdate(next, old, context) {
        keepSpec(next, old)
        keepConditions(next, old, isBeta(context))
        stampConditions(next, old, context.now)
      },
      validateUpdate: (next, old, context) => checkUpdate(next, old, context, 'status'),
    },
    approval: {
      resetFields: [['spec'], ['status', 'certificate']],
      prepareForUpdate(next, old, context) {
        stampConditions(next, old, context.now)
        const conditions = next.status?.conditions
        keepSpec(next, old)
        keepStatus(next, old)
        next.status ??= {}
        if (conditions === undefined) delete next.status.conditions
        else next.status.conditions = conditions
      },
      validateUpdate: (next, old, context) => checkUpdate(next, old, context, 'approval'),
    },
  },
}
