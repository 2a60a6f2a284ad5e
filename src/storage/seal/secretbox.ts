/** NaCl's secretbox, which Node's OpenSSL lacks. Loaded with the first value that needs it. */
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'

export const seal = (secret: Buffer, nonce: Buffer, plain: Buffer): Uint8Array =>
  xsalsa20poly1305(secret, nonce).encrypt(plain)

/** Undefined if the tag is wrong: the box has another key or was modified. */
export function open(secret: Buffer, nonce: Buffer, box: Buffer): Buffer | undefined {
  try {
    const { buffer, byteOffset, length } = xsalsa20poly1305(secret, nonce).decrypt(box)
    return Buffer.from(buffer as ArrayBuffer, byteOffset, length)
  } catch {
    return undefined
  }
}
