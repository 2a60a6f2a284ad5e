/**
 * Digests of tokens, used as cache keys. So caches hold no tokens, and the duration of a lookup
 * reveals nothing about them. Several methods need the digest of the same token, so the last token
 * and its digest are kept.
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
