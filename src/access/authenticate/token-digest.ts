/**
 * The key of a token in memory: its digest, so that tokens are not kept and the duration of a
 * look-up reveals nothing about them. Several methods need the digest of the same token one after
 * the other; it is computed once.
 */
import { hash } from 'node:crypto'

let lastToken = ''
let lastDigest = ''

export function tokenDigest(token: string): string {
  if (token !== lastToken || lastDigest === '') {
    lastDigest = hash('sha256', token, 'base64')
    lastToken = token
  }
  return lastDigest
}
