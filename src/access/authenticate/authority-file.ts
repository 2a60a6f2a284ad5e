/**
 * A file of authorities, read again while the server runs: operators add and remove authorities
 * there. What cannot be read changes nothing.
 */
import { readFileSync } from 'node:fs'
import type { X509Certificate } from 'node:crypto'
import { readBundle } from './certificate-chain.ts'

export class AuthorityFile {
  readonly #path: string
  #pem = ''
  #certificates: readonly X509Certificate[] = []

  /** Throws where it cannot be read. */
  constructor(path: string) {
    this.#path = path
    this.readAgain()
  }

  get certificates(): readonly X509Certificate[] {
    return this.#certificates
  }

  /** Whether it says something else than before. Throws where it cannot be read. */
  readAgain(): boolean {
    const pem = readFileSync(this.#path, 'utf8')
    if (pem === this.#pem) return false
    this.#certificates = readBundle(pem, this.#path)
    this.#pem = pem
    return true
  }
}
