/**
 * The short hash by which discovery shows clients that a resource's stored version changed.
 */
import { createHash } from 'node:crypto'

export function storageVersionHash(group: string, version: string, kind: string): string {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest()
  return digest.subarray(0, 8).toString('base64')
}
