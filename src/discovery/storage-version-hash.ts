/** The short hash in discovery by which clients detect a change of a resource's stored version. */
import { createHash } from 'node:crypto'

export function storageVersionHash(group: string, version: string, kind: string): string {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest()
  return digest.subarray(0, 8).toString('base64')
}
