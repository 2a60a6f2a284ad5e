/**
 * Detects servers on the same etcd with different keys. Clients of one server would get 401 or
 * "unknown authority" from the other. Each server keeps a record of its public keys with a short
 * TTL, reads those of other servers, and reports a difference once. It changes no keys.
 */
import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { prefixRange, type Storage } from '#storage/storage.ts'
import type { Settings } from '#settings/flags.ts'
import { localUrl } from './addresses.ts'
import { certificateDirectory, type Certificates } from './certificates.ts'
import type { Foundation } from './foundation.ts'

const renewIntervalMs = 10_000
/** The TTL of a record: a server that missed two renewals counts as stopped. */
const livesSeconds = 30

interface PublicKeys {
  /** Fingerprints. Absent if flags specify the keys, which may then differ. */
  readonly authority?: string
  readonly tokenKey?: string
}

interface Member extends PublicKeys {
  readonly url: string
}

const words: Readonly<Record<keyof PublicKeys, string>> = {
  authority: 'another certificate authority',
  tokenKey: 'another key for service account tokens',
}

export function watchOtherKeys({
  settings,
  certificates,
  storage,
  log,
}: Pick<Foundation, 'settings' | 'certificates' | 'storage' | 'log'>): { stop(): void } {
  const prefix = `/binnacle${settings.etcdPrefix}/members/`
  const key = prefix + memberName(settings)
  const own: Member = { url: localUrl(settings), ...publicKeys(settings, certificates) }
  const reported = new Set<string>()
  const look = async () => {
    await renew(storage, key, own)
    for (const { key: other, bytes } of (await storage.list(prefixRange(prefix))).value.items) {
      if (other === key || reported.has(other)) continue
      const member = JSON.parse(bytes.toString()) as Member
      const differing = differences(own, member)
      if (differing.length === 0) continue
      reported.add(other)
      log.error(differs(member.url, differing, settings))
    }
  }
  const tryLook = () =>
    look().catch((error) => log.warn('the keys of other servers could not be read', { error }))
  void tryLook()
  const timer = setInterval(tryLook, renewIntervalMs).unref()
  return { stop: () => clearInterval(timer) }
}

/** A server that starts again, perhaps with other keys, replaces its own record. */
const memberName = (settings: Settings): string => {
  const place = [hostname(), settings.securePort, certificateDirectory(settings)].join(' ')
  return createHash('sha256').update(place).digest('hex').slice(0, 16)
}

async function renew(
  storage: Pick<Storage, 'get' | 'put'>,
  key: string,
  own: Member,
): Promise<void> {
  const { value } = await storage.get(key)
  await storage.put(key, Buffer.from(JSON.stringify(own)), {
    ifRevision: value?.revision ?? 0,
    ttlSeconds: livesSeconds,
  })
}

function publicKeys(settings: Settings, { ca, serviceAccountKey }: Certificates): PublicKeys {
  const fingerprint = (der: Buffer) => createHash('sha256').update(der).digest('hex')
  const spki = (pem: string) =>
    fingerprint(createPublicKey(pem).export({ type: 'spki', format: 'der' }))
  const { tlsCertFile, clientCaFile, serviceAccountSigningKeyFile, serviceAccountKeyFile } =
    settings
  const hasOwnAuthority = tlsCertFile === undefined || clientCaFile === undefined
  const { publicKey } = new X509Certificate(ca.certificatePem)
  const tokenKey =
    serviceAccountSigningKeyFile !== undefined
      ? spki(readFileSync(serviceAccountSigningKeyFile, 'utf8'))
      : spki(serviceAccountKey.publicPem)
  return {
    ...(hasOwnAuthority && {
      authority: fingerprint(publicKey.export({ type: 'spki', format: 'der' })),
    }),
    // Several keys may verify tokens: the operator has chosen them.
    ...(serviceAccountKeyFile.length === 0 && { tokenKey }),
  }
}

const differences = (own: Member, other: Member): string[] =>
  (['authority', 'tokenKey'] as const)
    .filter((name) => own[name] && other[name] && own[name] !== other[name])
    .map((name) => words[name])

const differs = (url: string, differing: readonly string[], settings: Settings): string =>
  `the server at ${url} on the same etcd has ${differing.join(' and ')}: ` +
  'credentials of one server are refused by the other. ' +
  `Stop one, replace its ${certificateDirectory(settings)} by that of the other and start it again, ` +
  'or move it away and start all servers with the same --cluster-secret-file'
