/**
 * The ciphers for encryption at rest, in kube-apiserver's layout: the random part first, then the
 * ciphertext. They do not know key names, prefixes or the order of keys. Errors have
 * kube-apiserver's messages.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { loadLater } from '#base/load-later.ts'
import { Unopened } from '#storage/storage.ts'

const loadSecretbox = loadLater<typeof import('./secretbox.ts')>(import.meta.url, './secretbox')

export interface Cipher {
  /** `path` is the key in the store, to which a cipher may bind the value. */
  seal(secret: Buffer, plain: Buffer, path: string): Buffer
  open(secret: Buffer, sealed: Buffer, path: string): Buffer
}

export type CipherName = 'aescbc' | 'aesgcm' | 'secretbox'

const blockBytes = 16
const gcmNonceBytes = 12
const gcmTagBytes = 16
const boxNonceBytes = 24
const boxTagBytes = 16

/** Copies into separate memory, because a decrypted value lives as long as its object. */
export function joined(parts: readonly Buffer[]): Buffer {
  const all = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) at += part.copy(all, at)
  return all
}

const tooShort = () => new Unopened('the stored data was shorter than the required size')
const bitsOf = (secret: Buffer): number => secret.length * 8

/** The initialization vector, then whole blocks. Only the padding can reveal a modified value. */
const aescbc: Cipher = {
  seal(secret, plain) {
    const vector = randomBytes(blockBytes)
    const cipher = createCipheriv(`aes-${bitsOf(secret)}-cbc`, secret, vector)
    return Buffer.concat([vector, cipher.update(plain), cipher.final()])
  },
  open(secret, sealed) {
    if (sealed.length < blockBytes) throw tooShort()
    if (sealed.length % blockBytes !== 0)
      throw new Unopened('the stored data is not a multiple of the block size')
    const vector = sealed.subarray(0, blockBytes)
    const decipher = createDecipheriv(`aes-${bitsOf(secret)}-cbc`, secret, vector)
    // The padding is checked below: it may be longer than Node allows, and each fault has its own
    // message.
    decipher.setAutoPadding(false)
    const padded = joined([decipher.update(sealed.subarray(blockBytes)), decipher.final()])
    return withoutPadding(padded)
  },
}

function withoutPadding(padded: Buffer): Buffer {
  const count = padded.at(-1) ?? 0
  if (count === 0 || count > padded.length)
    throw new Unopened('invalid PKCS7 data (empty or not padded)')
  const end = padded.length - count
  for (let i = end; i < padded.length; i++) {
    if (padded[i] !== count) throw new Unopened('invalid padding on input')
  }
  return padded.subarray(0, end)
}

/**
 * The nonce, the ciphertext, the tag. The path is authenticated, so a value moved to another key
 * cannot be decrypted.
 */
const aesgcm: Cipher = {
  seal(secret, plain, path) {
    const nonce = randomBytes(gcmNonceBytes)
    const cipher = createCipheriv(`aes-${bitsOf(secret)}-gcm` as 'aes-256-gcm', secret, nonce)
    cipher.setAAD(Buffer.from(path))
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  },
  open(secret, sealed, path) {
    if (sealed.length < gcmNonceBytes) throw tooShort()
    if (sealed.length < gcmNonceBytes + gcmTagBytes) throw notAuthentic()
    const nonce = sealed.subarray(0, gcmNonceBytes)
    const tagAt = sealed.length - gcmTagBytes
    const name = `aes-${bitsOf(secret)}-gcm` as 'aes-256-gcm'
    const decipher = createDecipheriv(name, secret, nonce, { authTagLength: gcmTagBytes })
    decipher.setAAD(Buffer.from(path))
    decipher.setAuthTag(sealed.subarray(tagAt))
    const plain = decipher.update(sealed.subarray(gcmNonceBytes, tagAt))
    try {
      return joined([plain, decipher.final()])
    } catch {
      throw notAuthentic()
    }
  },
}

const notAuthentic = () => new Unopened('cipher: message authentication failed')

/** The nonce, then the box (XSalsa20 and Poly1305). */
const secretbox: Cipher = {
  seal(secret, plain) {
    const nonce = randomBytes(boxNonceBytes)
    return Buffer.concat([nonce, loadSecretbox().seal(secret, nonce, plain)])
  },
  open(secret, sealed) {
    if (sealed.length < boxNonceBytes + boxTagBytes) throw tooShort()
    const box = sealed.subarray(boxNonceBytes)
    const plain = loadSecretbox().open(secret, sealed.subarray(0, boxNonceBytes), box)
    if (plain === undefined) throw new Unopened('output array was not large enough for encryption')
    return plain
  },
}

export const ciphers: Readonly<Record<CipherName, Cipher>> = { aescbc, aesgcm, secretbox }
