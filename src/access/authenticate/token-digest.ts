/**
 * What a token is known by in memory: its digest, so that tokens are not kept and how long a look-up takes says nothing
 * about them. Several methods ask for the digest of the same token one after the other; it is made once.
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
