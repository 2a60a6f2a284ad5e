/**
 * A CA file that is read again while the server runs, because operators add and remove authorities.
 * An invalid file changes nothing.
 */
import { readFileSync } from 'node:fs'
import type { X509Certificate } from 'node:crypto'
import { readBundle } from './certificate-chain.ts'

export class AuthorityFile {
  readonly #path: string
  #pem = ''
  #certificates: readonly X509Certificate[] = []

  /** Throws if the file cannot be read. */
  constructor(path: string) {
    this.#path = path
    this.readAgain()
  }

  get certificates(): readonly X509Certificate[] {
    return this.#certificates
  }

  /** Reads the file. Returns whether its content has changed; throws if it is invalid. */
  readAgain(): boolean {
    const pem = readFileSync(this.#path, 'utf8')
    if (pem === this.#pem) return false
    this.#certificates = readBundle(pem, this.#path)
    this.#pem = pem
    return true
  }
}
