/**
 * The contents of a PKCS #10 certificate request: read here, signed elsewhere. A request with a
 * wrong signature is rejected.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { type DerValue, valuesIn } from '#base/der.ts'
import { certificateRequestProblem } from '#kinds/certificates/certificate-signing-request/certificate-request.ts'
import {
  type RequestNames,
  requestNames,
} from '#kinds/certificates/certificate-signing-request/kubelet-request.ts'
import { decodePem } from '#kinds/certificates/certificate-signing-request/pem.ts'

export interface ParsedRequest extends RequestNames {
  /** The whole subject as it was written. */
  readonly subject: Buffer
  readonly publicKey: KeyObject
  /** The requested alternative names as encoded values. */
  readonly alternativeNames: readonly Buffer[]
}

const extensionRequest = '2a864886f70d01090e'
const subjectAltName = '551d11'

const children = (value: DerValue | undefined): DerValue[] =>
  value === undefined ? [] : (valuesIn(value.contents) ?? [])

/** Throws where the bytes are no request, or are not signed with the key they are for. */
export function parseCertificateRequest(pemBytes: Buffer): ParsedRequest {
  const problem = certificateRequestProblem(pemBytes)
  const names = requestNames(pemBytes)
  if (problem !== undefined || names === undefined) throw new Error(problem ?? 'malformed request')
  const der = decodePem(pemBytes)?.bytes ?? Buffer.alloc(0)
  const [info] = children(valuesIn(der)?.[0])
  const [, subject, key, attributes] = children(info)
  if (subject === undefined || key === undefined) throw new Error('malformed request')
  const extensions = children(attributes)
    .map(children)
    .filter(([type]) => type?.contents.toString('hex') === extensionRequest)
    .flatMap(([, values]) => children(values))
    .flatMap(children)
    .map(children)
  const alternativeNames = extensions
    .filter(([type]) => type?.contents.toString('hex') === subjectAltName)
    .flatMap((extension) => children(extension.at(-1)))
    .flatMap(children)
    .map(({ whole }) => whole)
  const publicKey = createPublicKey({ key: key.whole, format: 'der', type: 'spki' })
  return { ...names, subject: subject.whole, publicKey, alternativeNames }
}
