/**
 * Reads a certificate and its key from two PEM files. Each file must contain what its flag says,
 * and the key must match the certificate. Errors contain the file name. Nothing here writes files.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { NamedFiles } from '#settings/flag-value.ts'
import { CannotUseFile, readIfThere } from './private-files.ts'

export interface KeyPair {
  readonly certificatePem: string
  readonly keyPem: string
}

export interface Loaded {
  readonly pair: KeyPair
  readonly certificate: X509Certificate
  readonly privateKey: KeyObject
}

/** Runs `parse`. Its errors get the file name, and `advice` for the operator. */
export function parsed<T>(
  path: string,
  what: string,
  advice: string | undefined,
  parse: () => T,
): T {
  try {
    return parse()
  } catch {
    const mend = advice === undefined ? '' : `; ${advice}`
    throw new CannotUseFile(path, `holds no ${what}${mend}`)
  }
}

/** A certificate and its key; undefined if either file is missing. */
export function loadPair(
  certificatePath: string,
  keyPath: string,
  advice?: string,
): Loaded | undefined {
  const certificatePem = readIfThere(certificatePath)
  const keyPem = readIfThere(keyPath)
  if (certificatePem === undefined || keyPem === undefined) return undefined
  const certificate = parsed(
    certificatePath,
    'PEM certificate',
    advice,
    () => new X509Certificate(certificatePem),
  )
  const privateKey = parsed(keyPath, 'PEM private key', advice, () => createPrivateKey(keyPem))
  if (!certificate.checkPrivateKey(privateKey))
    throw new CannotUseFile(keyPath, `is not the key of ${certificatePath}`)
  return { pair: { certificatePem, keyPem }, certificate, privateKey }
}

/** The key pair that two flags specify. Undefined without these flags. */
export function givenPair(
  certificatePath: string | undefined,
  keyPath: string | undefined,
): Loaded | undefined {
  if (certificatePath === undefined || keyPath === undefined) return undefined
  const loaded = loadPair(certificatePath, keyPath)
  if (loaded === undefined) throw new CannotUseFile(certificatePath, 'is gone')
  return loaded
}

export interface NamedPair extends KeyPair {
  readonly names: readonly string[]
}

/** A key pair for certain server names (SNI). */
export function namedPair({ certificate, key, names }: NamedFiles): NamedPair {
  const loaded = loadPair(certificate, key)
  if (loaded === undefined) throw new CannotUseFile(certificate, 'is gone')
  return { ...loaded.pair, names }
}

/** The CA certificates of a flag as PEM. Undefined without the flag. */
export function givenAuthorities(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const pem = readIfThere(path)
  if (pem === undefined) throw new CannotUseFile(path, 'is gone')
  parsed(path, 'PEM certificate', undefined, () => new X509Certificate(pem))
  return pem
}

/** Why clients reject a certificate today; undefined if it is valid today. */
export function validityProblem(certificate: X509Certificate, nowMs: number): string | undefined {
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
  if (nowMs < from) return `is not valid before ${new Date(from).toISOString()}: clients refuse it`
  if (nowMs > to) return `is not valid since ${new Date(to).toISOString()}: clients refuse it`
  return undefined
}
