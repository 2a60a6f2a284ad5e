/**
 * Makes the bearer token with which a test is an administrator of one cluster. Also makes the key
 * that signs the service account tokens of the cluster. Both are random.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the file of `--token-auth-file`, which only its owner can read. */
export function writeTokenFile(directory: string, cluster: string, token: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `${cluster}.tokens.csv`)
  writeFileSync(path, `${token},test-admin,test-admin,"system:masters"\n`, { mode: 0o600 })
  return path
}

export function newTokenKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
}
