/**
 * Servers on one etcd with --cluster-secret-file share a CA and a token signing key without copying
 * files. The first server stores both in etcd, encrypted with a key that scrypt derives from the
 * secret. The other servers read them.
 *
 *   /binnacle/registry/keys → {"format":1,"salt":"…","nonce":"…","sealed":"…"}
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TimerClock } from '#base/clock.ts'
import type { Settings } from '#settings/flags.ts'
import type { Storage } from '#storage/storage.ts'
import { CannotStart } from './cannot-start.ts'
import { authorityPath, certificateDirectory, ensureCertificates } from './certificates.ts'
import { ensurePrivateDirectory, readIfThere, writePrivateFiles } from './private-files.ts'
import { openStorage } from './storage.ts'

const sharedNames = ['ca.crt', 'ca.key', 'sa.key', 'sa.pub'] as const
/** Files signed by the authority. They are issued again after the shared authority is installed. */
const signedNames = ['apiserver.crt', 'apiserver.key', 'admin.crt', 'admin.key']

const secretLengthMin = 16
const formatVersion = 1
const cipher = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
/**
 * The cost of scrypt: a tenth of a second on most machines, so that guessing a weak secret is slow.
 */
const scryptCost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }

type SharedKeys = Readonly<Record<(typeof sharedNames)[number], string>>

const keysKey = ({ etcdPrefix }: Settings) => `/binnacle${etcdPrefix}/keys`

/** Puts the shared keys into the certificate directory, or this server's own keys into etcd. */
export async function shareKeys(
  settings: Settings,
  secretFile: string,
  clock: TimerClock,
  warn: (message: string) => void,
): Promise<void> {
  const secret = readFileSync(secretFile, 'utf8').trim()
  if (secret.length < secretLengthMin)
    throw new CannotStart(
      `--cluster-secret-file: ${secretFile} has ${secret.length} characters; it needs ${secretLengthMin} at least, as of: head -c 32 /dev/urandom | base64`,
    )
  const storage = await openStorage(settings, clock, warn)
  try {
    const found = await sharedKeys(storage, settings, secret, secretFile)
    if (found !== undefined) return takeOver(found, settings)
    const { made } = ensureCertificates(settings, clock)
    const { ok } = await storage.put(keysKey(settings), sealed(ownKeys(settings), secret), {
      ifRevision: 0,
    })
    if (ok) return
    // Another server stored its keys first. The keys created a moment ago are not in use yet.
    if (made.includes('ca')) removeOwn(settings)
    const first = await sharedKeys(storage, settings, secret, secretFile)
    if (first !== undefined) takeOver(first, settings)
  } finally {
    await storage.close()
  }
}

async function sharedKeys(
  storage: Storage,
  settings: Settings,
  secret: string,
  secretFile: string,
): Promise<SharedKeys | undefined> {
  const { value } = await storage.get(keysKey(settings))
  if (value === undefined) return undefined
  const keys = opened(value.bytes, secret)
  if (keys !== undefined) return keys
  throw new CannotStart(
    `--cluster-secret-file: the secret in ${secretFile} does not open the keys in etcd: use the secret of the other servers`,
  )
}

function takeOver(keys: SharedKeys, settings: Settings): void {
  const directory = certificateDirectory(settings)
  const own = readIfThere(authorityPath(settings))
  if (own !== undefined && own !== keys['ca.crt'])
    throw new CannotStart(
      `${authorityPath(settings)} is not the authority of this cluster: move ${directory} away, and the server takes the shared keys from etcd`,
    )
  ensurePrivateDirectory(settings.dataDir)
  ensurePrivateDirectory(directory)
  const files = sharedNames.map((name): [string, string] => [join(directory, name), keys[name]])
  const changed = files.filter(([path, text]) => readIfThere(path) !== text)
  if (changed.length > 0) writePrivateFiles(new Map(changed))
}

function ownKeys(settings: Settings): SharedKeys {
  const directory = certificateDirectory(settings)
  const texts = sharedNames.map((name) => [name, readFileSync(join(directory, name), 'utf8')])
  return Object.fromEntries(texts) as SharedKeys
}

function removeOwn(settings: Settings): void {
  const directory = certificateDirectory(settings)
  for (const name of [...sharedNames, ...signedNames])
    rmSync(join(directory, name), { force: true })
}

const secretKey = (secret: string, salt: Buffer) => scryptSync(secret, salt, keyBytes, scryptCost)

function sealed(keys: SharedKeys, secret: string): Buffer {
  const salt = randomBytes(keyBytes)
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, secretKey(secret, salt), nonce)
  const text = Buffer.concat([
    sealing.update(JSON.stringify(keys)),
    sealing.final(),
    sealing.getAuthTag(),
  ])
  const shown = (bytes: Buffer) => bytes.toString('base64')
  return Buffer.from(
    JSON.stringify({
      format: formatVersion,
      salt: shown(salt),
      nonce: shown(nonce),
      sealed: shown(text),
    }),
  )
}

/** Undefined if the secret does not match. */
function opened(bytes: Buffer, secret: string): SharedKeys | undefined {
  const value = JSON.parse(bytes.toString()) as Record<'salt' | 'nonce' | 'sealed', string>
  const [salt, nonce, text] = [value.salt, value.nonce, value.sealed].map((part) =>
    Buffer.from(part, 'base64'),
  ) as [Buffer, Buffer, Buffer]
  const opening = createDecipheriv(cipher, secretKey(secret, salt), nonce)
  opening.setAuthTag(text.subarray(-tagBytes))
  try {
    const plain = Buffer.concat([opening.update(text.subarray(0, -tagBytes)), opening.final()])
    return JSON.parse(plain.toString()) as SharedKeys
  } catch {
    return undefined
  }
}
