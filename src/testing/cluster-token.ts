/**
 * The bearer token that makes a test an administrator of one cluster, and the key that signs the
 * tokens of its service accounts. Both are random.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the file that `--token-auth-file` names, readable by its owner alone. */
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
