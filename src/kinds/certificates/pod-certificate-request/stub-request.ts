/**
 * The certificate request inside a PodCertificateRequest: it only shows that the kubelet has the
 * key.
 */
import type { KeyObject } from 'node:crypto'
import { type FieldError, invalid, invalidUnshown } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { base64Length } from '#kinds/all-kinds/base64-length.ts'
import {
  derRequestProblem,
  requestedKey,
} from '#kinds/certificates/certificate-signing-request/certificate-request.ts'
import { tooLongBytes } from '#kinds/declarative/limits.ts'

const path = FieldPath.of('spec', 'stubPKCS10Request')
const requestSizeBytesMax = 10 * 1024
const modulusBits = [3072, 4096]
const curves: Readonly<Record<string, string>> = {
  secp224r1: 'P-224',
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
}

export function checkStubRequest(request: string): FieldError[] {
  if (base64Length(request) > requestSizeBytesMax) return [tooLongBytes(path, requestSizeBytesMax)]
  const der = Buffer.from(request, 'base64')
  const read = requestedKey(der)
  if ('problem' in read) return [invalidUnshown(path, 'must be a valid PKCS#10 CSR')]
  const errors = checkKey(read.key)
  if (errors.length > 0) return errors
  return derRequestProblem(der) === undefined ? [] : [invalidUnshown(path, 'invalid signature')]
}

function checkKey(key: KeyObject | undefined): FieldError[] {
  const { modulusLength, namedCurve = '' } = key?.asymmetricKeyDetails ?? {}
  switch (key?.asymmetricKeyType) {
    case 'ed25519':
      return []
    case 'ec': {
      const curve = curves[namedCurve] ?? namedCurve
      if (curve !== 'P-224') return []
      const detail = 'elliptic public keys must use curve P256, P384, or P521'
      return [invalid(path, `curve ${curve}`, detail)]
    }
    case 'rsa': {
      // Go counts the modulus in whole bytes.
      const bits = Math.ceil((modulusLength ?? 0) / 8) * 8
      if (modulusBits.includes(bits)) return []
      const detail = 'RSA keys must have modulus size 3072 or 4096'
      return [invalid(path, `${bits}-bit modulus`, detail)]
    }
  }
  const detail = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA'
  return [invalidUnshown(path, detail)]
}
