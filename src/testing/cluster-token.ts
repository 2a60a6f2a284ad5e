/**
 * The bearer token that makes a test an administrator of one cluster. It is random and valid for
 * that cluster alone.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the file that `--token-auth-file` names, readable by its owner alone. */
export function writeTokenFile(directory: string, cluster: string, token: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `${cluster}.tokens.csv`)
  writeFileSync(path, `${token},test-admin,test-admin,"system:masters"\n`, { mode: 0o600 })
  return path
}
