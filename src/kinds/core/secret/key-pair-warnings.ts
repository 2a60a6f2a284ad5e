/**
 * Warnings about the certificate and key of a TLS secret, with the messages of Go's crypto/tls.
 * kube-apiserver accepts the secret. All certificates that Go cannot parse get the same message
 * here.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { decodePem, type PemBlock } from '#kinds/certificates/certificate-signing-request/pem.ts'
import type { Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'

const warnsOfKeyPairs = change('a client is warned of TLS secrets whose key does not fit', {
  since: 27,
})

export function keyPairWarnings(secret: KubeObject, { release }: Context): string[] {
  if (secret.type !== 'kubernetes.io/tls' || !releaseOf(release).has(warnsOfKeyPairs)) return []
  const bytesOf = (key: string) => Buffer.from(ownValue<string>(secret.data, key) ?? '', 'base64')
  const problem = keyPairProblem(bytesOf('tls.crt'), bytesOf('tls.key'))
  return problem === undefined ? [] : [problem]
}

function keyPairProblem(certificatePem: Buffer, keyPem: Buffer): string | undefined {
  const certificates = blocksIn(certificatePem)
  const first = certificates.find(({ type }) => type === 'CERTIFICATE')
  if (first === undefined) return certificateMissing(certificates.map(({ type }) => type))
  const keys = blocksIn(keyPem)
  const keyBlock = keys.find(({ type }) => isKey(type))
  if (keyBlock === undefined) return keyMissing(keys.map(({ type }) => type))
  const certificate = certificateIn(first)
  if (certificate === undefined) return 'x509: malformed certificate'
  const key = keyIn(keyBlock)
  if (key === undefined) return 'tls: failed to parse private key'
  return mismatch(certificate, key)
}

const isKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY')

function blocksIn(pem: Buffer): PemBlock[] {
  const blocks: PemBlock[] = []
  for (let block = decodePem(pem); block !== undefined; block = decodePem(block.rest))
    blocks.push(block)
  return blocks
}

function certificateMissing(types: readonly string[]): string {
  if (types.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (types.length === 1 && types[0]?.endsWith('PRIVATE KEY'))
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`
}

function keyMissing(types: readonly string[]): string {
  if (types.length === 0) return 'tls: failed to find any PEM data in key input'
  if (types.length === 1 && types[0] === 'CERTIFICATE')
    return 'tls: found a certificate rather than a key in the PEM for the private key'
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`
}

function certificateIn({ bytes }: PemBlock): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes)
  } catch {
    return undefined
  }
}

/** Tries PKCS #1, PKCS #8 and SEC 1, regardless of the type of the PEM block. */
function keyIn({ bytes }: PemBlock): KeyObject | undefined {
  for (const type of ['pkcs1', 'pkcs8', 'sec1'] as const) {
    try {
      return createPrivateKey({ key: bytes, format: 'der', type })
    } catch {
      // Try the next key format.
    }
  }
  return undefined
}

const known = ['rsa', 'ec', 'ed25519']

function mismatch(certificate: X509Certificate, key: KeyObject): string | undefined {
  const type = certificate.publicKey.asymmetricKeyType ?? ''
  if (!known.includes(type)) return 'tls: unknown public key algorithm'
  if (key.asymmetricKeyType !== type) return 'tls: private key type does not match public key type'
  return certificate.checkPrivateKey(key) ? undefined : 'tls: private key does not match public key'
}
