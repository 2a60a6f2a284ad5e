/**
 * The encryption providers of one resource in order: the first key of the first provider encrypts,
 * all keys decrypt. A stored value begins with the provider's prefix: `k8s:enc:aescbc:v1:key1:`.
 */
import { type CipherName, ciphers, joined } from './ciphers.ts'
import { isSealed, Unopened } from '#storage/storage.ts'

export interface NamedSecret {
  readonly name: string
  readonly secret: Buffer
}

export type Provider =
  | { readonly is: 'identity' }
  | { readonly is: CipherName; readonly keys: readonly NamedSecret[] }

/** `stale`: a write now would encrypt it with another key. */
export type Opened =
  | { readonly bytes: Buffer; readonly stale: boolean }
  | { readonly problem: string }

export interface Sealer {
  seal(path: string, plain: Buffer): Buffer
  open(path: string, stored: Buffer): Opened
}

const noProvider = 'no matching prefix found'

export function sealerOf(providers: readonly Provider[]): Sealer {
  const all = providers.map(boundProvider)
  return {
    seal: (path, plain) => all[0].seal(path, plain),
    open(path, stored) {
      const problems = new Set<string>()
      for (const [at, provider] of all.entries()) {
        if (!beginsWith(stored, provider.beginning)) continue
        const opened = provider.open(path, stored, problems)
        if (opened !== undefined) return { bytes: opened.bytes, stale: opened.stale || at > 0 }
      }
      if (problems.size === 0) return { problem: noProvider }
      const [first] = problems
      return { problem: problems.size === 1 ? first : `[${[...problems].join(', ')}]` }
    },
  }
}

interface BoundProvider {
  readonly beginning: Buffer
  seal(path: string, plain: Buffer): Buffer
  /** Returns undefined if it cannot decrypt the value, and adds the reason to `problems`. */
  open(
    path: string,
    stored: Buffer,
    problems: Set<string>,
  ): Extract<Opened, { bytes: Buffer }> | undefined
}

const boundProvider = (provider: Provider): BoundProvider =>
  provider.is === 'identity' ? identity : enciphering(provider.is, provider.keys)

/**
 * The identity provider does not return encrypted values; other providers decrypt them, whatever
 * the order.
 */
const identity: BoundProvider = {
  beginning: Buffer.alloc(0),
  seal: (_, plain) => plain,
  open: (_, stored) => (isSealed(stored) ? undefined : { bytes: stored, stale: false }),
}

function enciphering(name: CipherName, given: readonly NamedSecret[]): BoundProvider {
  const cipher = ciphers[name]
  const beginning = Buffer.from(`k8s:enc:${name}:v1:`)
  const keys = given.map(({ name: key, secret }) => ({
    beginning: Buffer.concat([beginning, Buffer.from(`${key}:`)]),
    secret,
  }))
  const kind = name === 'secretbox' ? 'Secretbox' : 'AES'
  return {
    beginning,
    seal: (path, plain) => joined([keys[0].beginning, cipher.seal(keys[0].secret, plain, path)]),
    open(path, stored, problems) {
      let isNamed = false
      for (const [at, key] of keys.entries()) {
        if (!beginsWith(stored, key.beginning)) continue
        isNamed = true
        try {
          const sealed = stored.subarray(key.beginning.length)
          return { bytes: cipher.open(key.secret, sealed, path), stale: at > 0 }
        } catch (error) {
          if (!(error instanceof Unopened)) throw error
          problems.add(error.message)
        }
      }
      if (!isNamed) problems.add(`no matching key was found for the provided ${kind} transformer`)
      return undefined
    },
  }
}

const beginsWith = (bytes: Buffer, beginning: Buffer): boolean =>
  bytes.length >= beginning.length &&
  bytes.compare(beginning, 0, beginning.length, 0, beginning.length) === 0
