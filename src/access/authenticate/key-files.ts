/**
 * Reads keys of service account tokens from PEM files: public keys, certificates, or private keys,
 * of which the public key is used.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type TokenKey, tokenKey } from './json-web-token.ts'

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g

/** All public keys in the text. Throws if none can verify tokens. */
export function readPublicKeys(pem: string, file: string): TokenKey[] {
  const keys: TokenKey[] = []
  for (const [block, label] of pem.matchAll(pemBlock)) {
    // Files of openssl may start with the parameters of the elliptic curve.
    if (label === 'EC PARAMETERS') continue
    try {
      keys.push(tokenKey(publicKeyOf(block, label as string)))
    } catch (error) {
      throw new Error(`error reading public key file ${file}: ${(error as Error).message}`)
    }
  }
  if (keys.length === 0)
    throw new Error(
      `error reading public key file ${file}: data does not contain any valid RSA or ECDSA public keys`,
    )
  return keys
}

function publicKeyOf(block: string, label: string): KeyObject {
  return label === 'CERTIFICATE' ? new X509Certificate(block).publicKey : createPublicKey(block)
}

export interface SigningKey extends TokenKey {
  readonly privateKey: KeyObject
}

/** The private key that signs tokens. */
export function readSigningKey(pem: string, file: string): SigningKey {
  const block = [...pem.matchAll(pemBlock)].find(([, label]) => label?.endsWith('PRIVATE KEY'))
  if (block === undefined)
    throw new Error(`error reading private key file ${file}: data does not contain a private key`)
  try {
    const privateKey = createPrivateKey(block[0])
    return { privateKey, ...tokenKey(createPublicKey(privateKey)) }
  } catch (error) {
    throw new Error(`error reading private key file ${file}: ${(error as Error).message}`)
  }
}
