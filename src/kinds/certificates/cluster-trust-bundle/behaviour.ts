/**
 * ClusterTrustBundle: trust anchors that pods can mount. A bundle of a signer has the signer's name
 * in its own.
 */
import { X509Certificate } from 'node:crypto'
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { longerThan, type NameRule } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { checkImmutable } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { isCertificate } from '#kinds/certificates/certificate-signing-request/issued-certificate.ts'
import { decodePem } from '#kinds/certificates/certificate-signing-request/pem.ts'
import { checkSignerName } from '#kinds/certificates/certificate-signing-request/signer-name.ts'
import { tooLongBytes } from '#kinds/declarative/limits.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { bundleNameRule } from './bundle-name.ts'

const signerPath = FieldPath.of('spec', 'signerName')
const bundlePath = FieldPath.of('spec', 'trustBundle')
/** The bundles of a pod are written into one volume. */
const bundleSizeBytesMax = 1024 * 1024

const signerOf = (object: KubeObject): string => object.spec?.signerName ?? ''
const bundleOf = (object: KubeObject): string => object.spec?.trustBundle ?? ''

const nameRuleOf = (object: KubeObject): NameRule => bundleNameRule(signerOf(object))

function checkSigner(object: KubeObject): FieldError[] {
  const signer = signerOf(object)
  return signer === '' ? [] : checkSignerName(signer, signerPath)
}

/**
 * The error of a PEM block that is not a valid trust anchor. Node accepts the same certificates as
 * Go.
 */
function anchorProblem(block: NonNullable<ReturnType<typeof decodePem>>): string | undefined {
  if (block.type !== 'CERTIFICATE') return `has bad block type: ${block.type}`
  if (block.hasHeaders) return 'has PEM block headers'
  if (!isCertificate(block.bytes)) return 'does not parse as X.509'
  return new X509Certificate(block.bytes).ca ? undefined : 'does not have the CA bit set'
}

function checkBundle(bundle: string): FieldError[] {
  if (longerThan(bundle, bundleSizeBytesMax)) {
    return [tooLongBytes(bundlePath, bundleSizeBytesMax)]
  }
  const wrong = (detail: string) => invalid(bundlePath, '<value omitted>', detail)
  const errors: FieldError[] = []
  const indices = new Map<string, number[]>()
  let block = decodePem(Buffer.from(bundle))
  for (let i = 0; block !== undefined; i++, block = decodePem(block.rest)) {
    const problem = anchorProblem(block)
    if (problem !== undefined) errors.push(wrong(`entry ${i} ${problem}`))
    const key = block.bytes.toString('latin1')
    indices.set(key, [...(indices.get(key) ?? []), i])
  }
  if (errors.length > 0) return errors
  if (indices.size === 0) return [wrong('at least one trust anchor must be provided')]
  return [...indices.values()]
    .filter((list) => list.length > 1)
    .map((list) => wrong(`duplicate trust anchor (indices [${list.join(' ')}])`))
}

export const clusterTrustBundleBehaviour: Behaviour = {
  nameRuleOf,
  unconditionalUpdate: false,
  validateCreate: (object) => [...checkSigner(object), ...checkBundle(bundleOf(object))],
  validateUpdate: (next, old) => [
    ...checkMetadata(next, false, nameRuleOf(next)),
    ...checkSigner(next),
    ...(bundleOf(next) === bundleOf(old) ? [] : checkBundle(bundleOf(next))),
    ...checkMetadataUpdate(next, old),
    ...checkImmutable(signerOf(next), signerOf(old), signerPath),
  ],
  selectableFields: (object) => ({ 'spec.signerName': signerOf(object) }),
}
