/** Verifies signatures of certificate requests, with Go's error messages. */
import { constants, type KeyObject, verify } from 'node:crypto'

type Family = 'RSA' | 'ECDSA' | 'Ed25519' | 'DSA'

interface Algorithm {
  readonly family: Family
  /** Null if the key determines it. */
  readonly hash: string | null
  readonly isPss?: boolean
}

/** Signature algorithms, by the bytes of their object identifier. */
const algorithms = new Map<string, Algorithm>([
  ['2a864886f70d010104', { family: 'RSA', hash: 'md5' }],
  ['2a864886f70d010105', { family: 'RSA', hash: 'sha1' }],
  ['2b0e03021d', { family: 'RSA', hash: 'sha1' }],
  ['2a864886f70d01010b', { family: 'RSA', hash: 'sha256' }],
  ['2a864886f70d01010c', { family: 'RSA', hash: 'sha384' }],
  ['2a864886f70d01010d', { family: 'RSA', hash: 'sha512' }],
  ['2a8648ce3d0401', { family: 'ECDSA', hash: 'sha1' }],
  ['2a8648ce3d040302', { family: 'ECDSA', hash: 'sha256' }],
  ['2a8648ce3d040303', { family: 'ECDSA', hash: 'sha384' }],
  ['2a8648ce3d040304', { family: 'ECDSA', hash: 'sha512' }],
  ['2a8648ce380403', { family: 'DSA', hash: 'sha1' }],
  ['608648016503040302', { family: 'DSA', hash: 'sha256' }],
  ['2b6570', { family: 'Ed25519', hash: null }],
])
const pss = '2a864886f70d01010a'
/** The hash of PSS is one of its parameters. */
const pssHashes = [
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
] as const

const unimplemented = 'x509: cannot verify signature: algorithm unimplemented'

/** Go's types of the keys. */
const keyTypes: Readonly<Record<string, readonly [Family, string]>> = {
  rsa: ['RSA', '*rsa.PublicKey'],
  ec: ['ECDSA', '*ecdsa.PublicKey'],
  ed25519: ['Ed25519', 'ed25519.PublicKey'],
}
const failures: Readonly<Record<Family, string>> = {
  RSA: 'crypto/rsa: verification error',
  ECDSA: 'x509: ECDSA verification failure',
  Ed25519: 'x509: Ed25519 verification failure',
  DSA: unimplemented,
}

export interface Signed {
  readonly message: Buffer
  readonly signature: Buffer
  /** The bytes of the algorithm's identifier, in hex, and its parameters. */
  readonly algorithm: string
  readonly parameters: Buffer
}

function algorithmOf({ algorithm, parameters }: Signed): Algorithm | undefined {
  const found = algorithms.get(algorithm)
  if (found?.family === 'Ed25519' && parameters.length > 0) return undefined
  if (algorithm !== pss) return found
  const text = parameters.toString('hex')
  const hash = pssHashes.find(([oid]) => text.includes(oid))?.[1]
  return hash === undefined ? undefined : { family: 'RSA', hash, isPss: true }
}

export function signatureProblem(signed: Signed, key: KeyObject | undefined): string | undefined {
  const algorithm = algorithmOf(signed)
  if (algorithm === undefined) return unimplemented
  if (algorithm.hash === 'md5') return 'x509: cannot verify signature: insecure algorithm MD5-RSA'
  const [family, type] = keyTypes[key?.asymmetricKeyType ?? ''] ?? []
  if (key === undefined || family === undefined) return unimplemented
  if (family !== algorithm.family) {
    return `x509: signature algorithm specifies an ${algorithm.family} public key, but have public key of type ${type}`
  }
  return isSigned(signed, algorithm, key) ? undefined : failures[family]
}

function isSigned({ message, signature }: Signed, algorithm: Algorithm, key: KeyObject): boolean {
  const padding = algorithm.isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {}
  try {
    return verify(algorithm.hash, message, { key, ...padding }, signature)
  } catch {
    return false
  }
}
