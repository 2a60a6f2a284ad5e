/**
 * PodCertificateRequest: a kubelet requests a certificate for a pod; a signer issues, denies or
 * fails it, once.
 */
import { type FieldError, invalid, invalidUnshown, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStringMap, goStruct } from '#api/go-syntax.ts'
import { longerThan, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { each, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepObjectMetaForStatus, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import { checkSignerName } from '#kinds/certificates/certificate-signing-request/signer-name.ts'
import { tooLongBytes } from '#kinds/declarative/limits.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { certificateSecondsMaxOf, certificateSecondsMin } from './certificate-seconds.ts'
import { checkIssuedStatus } from './issued-status.ts'
import { checkStubRequest } from './stub-request.ts'
import { checkUserAnnotations } from './user-annotations.ts'

const specPath = FieldPath.of('spec')
const uidLengthBytesMax = 128

function checkName(spec: Loose, field: string): FieldError[] {
  const name: string = spec[field] ?? ''
  return each(specPath.child(field), name, nameIsDnsSubdomain(name, false))
}

function checkUid(spec: Loose, field: string): FieldError[] {
  const path = specPath.child(field)
  const uid: string = spec[field] ?? ''
  if (uid === '') return [invalid(path, uid, 'must not be empty')]
  return longerThan(uid, uidLengthBytesMax) ? [tooLongBytes(path, uidLengthBytesMax)] : []
}

function checkSeconds(spec: Loose): FieldError[] {
  const seconds: number = spec.maxExpirationSeconds
  const max = certificateSecondsMaxOf(spec.signerName ?? '')
  if (seconds >= certificateSecondsMin && seconds <= max) return []
  const detail = `must be in the range [${certificateSecondsMin}, ${max}]`
  return [invalid(specPath.child('maxExpirationSeconds'), seconds, detail)]
}

function check(request: KubeObject): FieldError[] {
  const spec: Loose = request.spec ?? {}
  const errors = [
    ...checkSignerName(spec.signerName ?? '', specPath.child('signerName'), ''),
    ...checkUserAnnotations(
      spec.unverifiedUserAnnotations,
      specPath.child('unverifiedUserAnnotations'),
    ),
    ...checkName(spec, 'podName'),
    ...checkUid(spec, 'podUID'),
    ...checkName(spec, 'serviceAccountName'),
    ...checkUid(spec, 'serviceAccountUID'),
    ...checkName(spec, 'nodeName'),
    ...checkUid(spec, 'nodeUID'),
  ]
  if (spec.maxExpirationSeconds === undefined) {
    return [...errors, required(specPath.child('maxExpirationSeconds'), 'must be set')]
  }
  errors.push(...checkSeconds(spec))
  if (spec.stubPKCS10Request) return [...errors, ...checkStubRequest(spec.stubPKCS10Request)]
  const detail =
    'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'
  return [...errors, invalidUnshown(specPath, detail)]
}

const noBytes = asGo('[]byte(nil)', 'null')

/** A spec as messages show it, with the members that only the beta version can set. */
function goSpec(spec: Loose) {
  const text = (field: string) => goQuote(spec[field] ?? '')
  return goStruct('certificates.PodCertificateRequestSpec', [
    ['SignerName', text('signerName')],
    ['PodName', text('podName')],
    ['PodUID', text('podUID')],
    ['ServiceAccountName', text('serviceAccountName')],
    ['ServiceAccountUID', text('serviceAccountUID')],
    ['NodeName', text('nodeName')],
    ['NodeUID', text('nodeUID')],
    ['MaxExpirationSeconds', goPointer('int32', spec.maxExpirationSeconds)],
    ['PKIXPublicKey', noBytes],
    ['ProofOfPossession', noBytes],
    ['StubPKCS10Request', spec.stubPKCS10Request ? text('stubPKCS10Request') : noBytes],
    ['UnverifiedUserAnnotations', goStringMap(spec.unverifiedUserAnnotations)],
  ])
}

export const podCertificateRequestBehaviour: Behaviour = {
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = {}
  },
  prepareForUpdate: keepStatus,
  validateCreate: check,
  validateUpdate: (next, old) => [
    ...checkMetadataUpdate(next, old),
    ...(sameJson(next.spec, old.spec)
      ? []
      : [invalid(specPath, goSpec(next.spec ?? {}), immutableMessage)]),
  ],
  selectsNamespace: false,
  selectableFields: ({ spec }) => ({
    'spec.signerName': spec?.signerName ?? '',
    'spec.podName': spec?.podName ?? '',
    'spec.nodeName': spec?.nodeName ?? '',
  }),
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate(next, old, { now, release }) {
        const errors = checkMetadataUpdate(next, old)
        if (errors.length > 0) return errors
        return checkIssuedStatus(next, old, Date.parse(now), releaseOf(release))
      },
    },
  },
}
