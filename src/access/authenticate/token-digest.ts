/**
 * Digests of tokens, used as cache keys. So tokens are not kept in memory, and the duration of a
 * lookup reveals nothing about them. Several methods need the digest of the same token, so the last
 * one is cached.
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
