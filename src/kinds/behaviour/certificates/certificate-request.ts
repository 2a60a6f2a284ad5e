/** PKCS #10 certificate requests: whether bytes are one, and whether it is signed with the key it is for. */
import { createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto'
import { type DerValue, valuesIn } from '#base/der.ts'
import { decodePem } from './pem.ts'

const sequence = 0x30
const bitString = 0x03
const malformed = "asn1: structure error: tags don't match or data is truncated"

/** Hash of each signature algorithm, by the bytes of its object identifier; null where the key says it. */
const hashes = new Map<string, string | null>([
  ['2a864886f70d010105', 'sha1'],
  ['2a864886f70d01010b', 'sha256'],
  ['2a864886f70d01010c', 'sha384'],
  ['2a864886f70d01010d', 'sha512'],
  ['2a8648ce3d0401', 'sha1'],
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
  ['2b6570', null],
])

/** What is wrong with a PEM certificate request, in Go's words where it has any. */
export function certificateRequestProblem(bytes: Buffer): string | undefined {
  const block = decodePem(bytes)
  if (block === undefined || block.type !== 'CERTIFICATE REQUEST') {
    return 'PEM block type must be CERTIFICATE REQUEST'
  }
  return requestProblem(block.bytes)
}

function requestProblem(der: Buffer): string | undefined {
  const outer = valuesIn(der)
  if (outer === undefined || outer[0]?.tag !== sequence) return malformed
  if (outer.length > 1) return 'asn1: syntax error: trailing data'
  const [info, algorithm, signature] = valuesIn(outer[0].contents) ?? []
  if (info?.tag !== sequence || algorithm?.tag !== sequence || signature?.tag !== bitString) {
    return malformed
  }
  const key = publicKeyOf(info)
  if (key === undefined) return 'x509: unsupported or malformed public key'
  const oid = valuesIn(algorithm.contents)?.[0]?.contents.toString('hex') ?? ''
  const hash = hashes.get(oid)
  if (hash === undefined) return 'x509: cannot verify signature: algorithm unimplemented'
  return isSigned(info.whole, signature.contents.subarray(1), hash, key)
    ? undefined
    : signatureProblem(key)
}

/** Version, subject, then the key. */
function publicKeyOf(info: DerValue): KeyObject | undefined {
  const spki = valuesIn(info.contents)?.[2]
  if (spki === undefined) return undefined
  try {
    return createPublicKey({ key: spki.whole, format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

function isSigned(
  message: Buffer,
  signature: Buffer,
  hash: string | null,
  key: KeyObject,
): boolean {
  try {
    return verify(hash, message, key, signature)
  } catch {
    return false
  }
}

function signatureProblem(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return 'crypto/rsa: verification error'
  if (key.asymmetricKeyType === 'ec') return 'x509: ECDSA verification failure'
  return 'x509: Ed25519 verification failure'
}

/** What is wrong with issued certificates, a chain of PEM blocks. None at all is nothing wrong. */
export function certificateProblem(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined
  let count = 0
  for (let rest = bytes; ; count++) {
    const block = decodePem(rest)
    if (block === undefined) break
    if (block.type !== 'CERTIFICATE') {
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(block.type)}`
    }
    if (block.hasHeaders) return 'no PEM block headers are permitted'
    if (block.bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
    if (!areCertificates(block.bytes)) return 'x509: malformed certificate'
    rest = block.rest
  }
  return count === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

function areCertificates(der: Buffer): boolean {
  try {
    const values = valuesIn(der)
    if (values === undefined) return false
    for (const value of values) new X509Certificate(value.whole)
    return true
  } catch {
    return false
  }
}
