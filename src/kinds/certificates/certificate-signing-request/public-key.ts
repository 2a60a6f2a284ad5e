/**
 * Parses the public keys of certificate requests and certificates, with Go's errors for invalid
 * keys.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { valuesIn } from '#base/der.ts'

/** A key to verify signatures. Undefined if the algorithm is unknown. */
export type KeyRead = { key: KeyObject | undefined } | { problem: string }

interface KeyParts {
  /** The bytes of the object identifier, in hex. */
  readonly algorithm: string
  readonly parameters: Buffer
  /** The contents of the bit string, without the byte that counts unused bits. */
  readonly bits: Buffer
  /** The whole encoded key, for functions that need it. */
  readonly whole: Buffer
}

const sequence = 0x30
const integer = 0x02
const oid = 0x06

const curves = new Map([
  ['2b81040021', 'P224'],
  ['2a8648ce3d030107', 'P256'],
  ['2b81040022', 'P384'],
  ['2b81040023', 'P521'],
])

const ed25519Length = 32
const dsaParameters = 3

/** Go's check for each key algorithm, by the hex of its object identifier. */
const problems = new Map<string, (parts: KeyParts) => string | undefined>([
  ['2a864886f70d010101', rsaProblem],
  ['2a8648ce3d0201', ecProblem],
  ['2b6570', edProblem],
  ['2b656e', ({ parameters }) => (parameters.length > 0 ? illegal('X25519') : undefined)],
  ['2a8648ce380401', dsaProblem],
])

const illegal = (name: string): string => `x509: ${name} key encoded with illegal parameters`

export function readPublicKey(parts: KeyParts): KeyRead {
  const problemOf = problems.get(parts.algorithm)
  if (problemOf === undefined) return { key: undefined }
  const problem = problemOf(parts)
  if (problem !== undefined) return { problem }
  try {
    return { key: createPublicKey({ key: parts.whole, format: 'der', type: 'spki' }) }
  } catch {
    const curve = curves.get(hexOfOid(parts.parameters) ?? '')
    return curve === undefined ? { key: undefined } : { problem: pointProblem(parts.bits, curve) }
  }
}

const pointLengths: Readonly<Record<string, number>> = { P224: 57, P256: 65, P384: 97, P521: 133 }

const pointProblem = (point: Buffer, curve: string): string =>
  point.length === pointLengths[curve]
    ? `${curve} point not on curve`
    : `invalid ${curve} point encoding`

function hexOfOid(bytes: Buffer): string | undefined {
  const [value] = valuesIn(bytes) ?? []
  return value?.tag === oid ? value.contents.toString('hex') : undefined
}

/** Whether the value is an integer in its shortest encoding. */
const isInteger = (value: { tag: number; contents: Buffer } | undefined): boolean => {
  if (value?.tag !== integer || value.contents.length === 0) return false
  const [first = 0, second = 0] = value.contents
  if (value.contents.length === 1) return true
  return !((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))
}
const isPositive = (contents: Buffer): boolean =>
  (contents[0] as number) < 0x80 && contents.some((byte) => byte !== 0)

function rsaProblem({ parameters, bits }: KeyParts): string | undefined {
  if (parameters.toString('hex') !== '0500') return 'x509: RSA key missing NULL parameters'
  const [outer] = valuesIn(bits) ?? []
  if (outer?.tag !== sequence) return 'x509: invalid RSA public key'
  const [modulus, exponent] = valuesIn(outer.contents) ?? []
  if (modulus === undefined || !isInteger(modulus)) return 'x509: invalid RSA modulus'
  if (exponent === undefined || !isInteger(exponent) || exponent.contents.length > 8) {
    return 'x509: invalid RSA public exponent'
  }
  if (!isPositive(modulus.contents)) return 'x509: RSA modulus is not a positive number'
  if (!isPositive(exponent.contents)) return 'x509: RSA public exponent is not a positive number'
  return undefined
}

function ecProblem({ parameters, bits }: KeyParts): string | undefined {
  const curve = hexOfOid(parameters)
  if (curve === undefined) return 'x509: invalid ECDSA parameters'
  if (!curves.has(curve)) return 'x509: unsupported elliptic curve'
  return bits[0] === 4 ? undefined : 'ecdsa: invalid uncompressed public key'
}

function edProblem({ parameters, bits }: KeyParts): string | undefined {
  if (parameters.length > 0) return illegal('Ed25519')
  return bits.length === ed25519Length ? undefined : 'x509: wrong Ed25519 public key size'
}

function dsaProblem({ parameters, bits }: KeyParts): string | undefined {
  const [y] = valuesIn(bits) ?? []
  if (y === undefined || !isInteger(y)) return 'x509: invalid DSA public key'
  const [outer] = valuesIn(parameters) ?? []
  const numbers = outer?.tag === sequence ? (valuesIn(outer.contents) ?? []) : []
  if (numbers.length < dsaParameters || !numbers.slice(0, dsaParameters).every(isInteger)) {
    return 'x509: invalid DSA parameters'
  }
  return [y, ...numbers.slice(0, dsaParameters)].every(({ contents }) => isPositive(contents))
    ? undefined
    : 'x509: zero or negative DSA parameter'
}
