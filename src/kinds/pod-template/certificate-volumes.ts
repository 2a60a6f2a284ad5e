/** Projected volumes with trust anchors, and with a certificate of the pod itself. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { validateLabelSelector } from '#api/label-rules.ts'
import type { Loose } from '#api/object-meta.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkSignerName } from '#kinds/certificates/certificate-signing-request/signer-name.ts'
import { bundleNameRule } from '#kinds/certificates/cluster-trust-bundle/bundle-name.ts'
import {
  certificateSecondsMaxOf,
  certificateSecondsMin,
} from '#kinds/certificates/pod-certificate-request/certificate-seconds.ts'
import { checkUserAnnotations } from '#kinds/certificates/pod-certificate-request/user-annotations.ts'
import { checkUser } from './file-owner.ts'
import { checkUnreservedPath } from './volume-paths.ts'

const bundleType = 'io.k8s.api.core.v1.ClusterTrustBundleProjection'
const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
export const certificatePaths = ['credentialBundlePath', 'keyPath', 'certificateChainPath']

export function checkTrustBundle(bundle: Loose, path: FieldPath): FieldError[] {
  const { name, signerName, path: target = '' } = bundle
  const errors: FieldError[] = []
  if (typeof name === 'string' && typeof signerName === 'string') {
    const shown = internalValue(bundleType, bundle)
    errors.push(invalid(path, shown, 'only one of name and signerName may be used'))
  } else if (typeof name === 'string') {
    errors.push(...checkBundleName(bundle, path))
  } else if (typeof signerName === 'string') {
    const at = path.child('signerName')
    if (signerName === '') errors.push(required(at, 'must be a valid signer name'))
    errors.push(...checkSignerName(signerName, at))
    errors.push(...validateLabelSelector(bundle.labelSelector, path.child('labelSelector'), true))
  } else {
    errors.push(required(path, 'either name or signerName must be specified'))
  }
  if (target === '') errors.push(required(path.child('path')))
  errors.push(...checkUser(bundle.user, path.child('user')))
  errors.push(...checkUnreservedPath(target, path.child('path')))
  return errors
}

/** The part before the last colon, if any, is the signer name. */
function checkBundleName(bundle: Loose, path: FieldPath): FieldError[] {
  const name: string = bundle.name
  const at = path.child('name')
  const colon = name.lastIndexOf(':')
  const signer = colon === -1 ? '' : name.slice(0, colon).replaceAll(':', '/')
  const errors = bundleNameRule(signer)(name, false).map((problem) =>
    invalid(at, name, `not a valid clustertrustbundlename: ${problem}`),
  )
  if (name === '') errors.unshift(required(at, 'must be a valid object name'))
  if (bundle.labelSelector) {
    const selectorAt = path.child('labelSelector')
    const detail = 'labelSelector must be unset if name is specified'
    errors.push(invalid(selectorAt, bundle.labelSelector, detail))
  }
  return errors
}

export function checkPodCertificate(certificate: Loose, path: FieldPath): FieldError[] {
  const { signerName = '', keyType = '', userAnnotations, user } = certificate
  const errors = [
    ...checkSignerName(signerName, path.child('signerName')),
    ...checkUserAnnotations(userAnnotations ?? {}, path.child('userAnnotations')),
    ...checkUser(user, path.child('user')),
    ...(keyTypes.includes(keyType) ? [] : [notSupported(path.child('keyType'), keyType, keyTypes)]),
    ...checkSeconds(certificate, path.child('maxExpirationSeconds')),
  ]
  const used = certificatePaths.filter((field) => certificate[field])
  for (const field of used) {
    errors.push(...checkUnreservedPath(certificate[field], path.child(field)))
  }
  if (used.length === 0) {
    const detail = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'
    errors.push(required(path, detail))
  }
  return errors
}

function checkSeconds(certificate: Loose, path: FieldPath): FieldError[] {
  const seconds: number | undefined = certificate.maxExpirationSeconds ?? undefined
  const max = certificateSecondsMaxOf(certificate.signerName ?? '')
  const wrong = (limit: string) =>
    invalid(path, seconds, `if provided, maxExpirationSeconds must be ${limit}`)
  if (seconds === undefined) return []
  if (seconds < certificateSecondsMin) return [wrong(`>= ${certificateSecondsMin}`)]
  return seconds > max ? [wrong(`<= ${max}`)] : []
}
