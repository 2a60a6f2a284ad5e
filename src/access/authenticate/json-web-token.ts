/**
 * Signs and verifies JSON web tokens in compact form, with asymmetric keys only. The token's
 * algorithm must match the key. This excludes `none` and attacks that use a public key as a shared
 * secret. All functions are synchronous.
 */
import { createHash, type KeyObject, sign as signBytes, verify as verifyBytes } from 'node:crypto'
import { constants } from 'node:crypto'
import type { Loose } from '#api/object-meta.ts'

export interface ParsedToken {
  readonly header: Loose
  /** Not verified: it only selects the verifier. */
  readonly claims: Loose
  readonly signed: Buffer
  readonly signature: Buffer
}

export interface TokenKey {
  readonly publicKey: KeyObject
  /** The `kid` of tokens that were signed with the private key. */
  readonly id: string
  /** The algorithm with which this server signs. */
  readonly algorithm: string
}

const curves: Readonly<Record<string, { algorithm: string; hash: string }>> = {
  prime256v1: { algorithm: 'ES256', hash: 'sha256' },
  secp384r1: { algorithm: 'ES384', hash: 'sha384' },
  secp521r1: { algorithm: 'ES512', hash: 'sha512' },
}
const hashes: Readonly<Record<string, string>> = { 256: 'sha256', 384: 'sha384', 512: 'sha512' }

/** A key and its algorithm. Throws for key types that cannot sign tokens. */
export function tokenKey(publicKey: KeyObject): TokenKey {
  const der = publicKey.export({ type: 'spki', format: 'der' })
  const id = createHash('sha256').update(der).digest('base64url')
  if (publicKey.asymmetricKeyType === 'rsa') return { publicKey, id, algorithm: 'RS256' }
  const curve = curves[publicKey.asymmetricKeyDetails?.namedCurve ?? '']
  if (publicKey.asymmetricKeyType !== 'ec' || curve === undefined)
    throw new Error('keys must be RSA, or ECDSA on a curve of 256, 384 or 521 bits')
  return { publicKey, id, algorithm: curve.algorithm }
}

/** The parts of a token; undefined if the text is not a token. */
export function parseToken(token: string): ParsedToken | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  const [head, body, tail] = parts.map(decoded)
  if (head === undefined || body === undefined || tail === undefined) return undefined
  const header = jsonObject(head)
  const claims = jsonObject(body)
  if (header === undefined || claims === undefined) return undefined
  const signed = Buffer.from(token.slice(0, token.lastIndexOf('.')))
  return { header, claims, signed, signature: tail }
}

/** The issuer that a token claims, which is not verified; undefined if the text is not a token. */
export function claimedIssuer(token: string): string | undefined {
  const body = decoded(token.split('.', 3)[1] ?? '')
  const issuer = body === undefined ? undefined : jsonObject(body)?.iss
  return typeof issuer === 'string' ? issuer : undefined
}

function decoded(part: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(part) || part.length % 4 === 1) return undefined
  return Buffer.from(part, 'base64url')
}

function jsonObject(bytes: Buffer): Loose | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Loose)
      : undefined
  } catch {
    return undefined
  }
}

/** Whether this key signed the token with an algorithm that fits the key. */
export function isSignedBy({ header, signed, signature }: ParsedToken, key: TokenKey): boolean {
  const { alg, crit } = header
  // This server supports no critical extensions (`crit`).
  if (typeof alg !== 'string' || crit !== undefined) return false
  const { publicKey, algorithm } = key
  if (publicKey.asymmetricKeyType === 'ec') {
    if (alg !== algorithm) return false
    const hash = hashes[alg === 'ES512' ? '512' : alg.slice(2)] as string
    return verifyBytes(hash, signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
  }
  const [, family, bits] = /^([RP])S(256|384|512)$/.exec(alg) ?? []
  if (bits === undefined) return false
  const hash = hashes[bits] as string
  if (family === 'R') return verifyBytes(hash, signed, publicKey, signature)
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST
  return verifyBytes(hash, signed, { key: publicKey, padding, saltLength }, signature)
}

/** Signs claims; the members keep their order. */
export function signToken(claims: Loose, privateKey: KeyObject, key: TokenKey): string {
  const encode = (value: Loose) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: key.algorithm, kid: key.id })}.${encode(claims)}`
  const hash = hashes[key.algorithm === 'ES512' ? '512' : key.algorithm.slice(2)] as string
  const options =
    privateKey.asymmetricKeyType === 'ec'
      ? ({ key: privateKey, dsaEncoding: 'ieee-p1363' } as const)
      : privateKey
  return `${signed}.${signBytes(hash, Buffer.from(signed), options).toString('base64url')}`
}
