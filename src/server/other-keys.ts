/**
 * Detects servers on the same etcd with different keys. Clients of one server would get 401 or
 * "unknown authority" from the other. Each server keeps a record with its public keys, reads those
 * of other servers, and reports a difference once. It changes no keys.
 */
import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Settings } from '#settings/flags.ts'
import { localUrl } from './addresses.ts'
import { certificateDirectory, type Certificates } from './certificates.ts'
import type { Foundation } from './foundation.ts'
import {
  liveMembers,
  type MemberRecord,
  memberPrefix,
  type PublicKeys,
  removeMember,
  renewMember,
} from './members.ts'

const renewIntervalMs = 10_000

const words: Readonly<Record<keyof PublicKeys, string>> = {
  authority: 'another certificate authority',
  tokenKey: 'another key for service account tokens',
}

export function watchOtherKeys({
  settings,
  certificates,
  storage,
  log,
}: Pick<Foundation, 'settings' | 'certificates' | 'storage' | 'log'>): { stop(): Promise<void> } {
  const key = memberPrefix(settings) + memberName(settings)
  const own: MemberRecord = {
    url: localUrl(settings),
    host: hostname(),
    sharesKeys: settings.clusterSecretFile !== undefined,
    ...publicKeys(settings, certificates),
  }
  const reported = new Set<string>()
  const look = async () => {
    await renewMember(storage, key, own)
    for (const [other, member] of await liveMembers(storage, settings)) {
      if (other === key || reported.has(other)) continue
      const differing = differences(own, member)
      if (differing.length === 0) continue
      reported.add(other)
      log.error(differs(member, differing, settings))
    }
  }
  /** At most one runs. Stopping waits for it, so that it does not write the record again. */
  let looking: Promise<void> | undefined
  const tryLook = () => {
    looking ??= look()
      .catch((error) => log.warn('the keys of other servers could not be read', { error }))
      .finally(() => (looking = undefined))
  }
  tryLook()
  const timer = setInterval(tryLook, renewIntervalMs).unref()
  return {
    async stop() {
      clearInterval(timer)
      await looking
      await removeMember(storage, key).catch(() => {})
    },
  }
}

/** A server that starts again, perhaps with other keys, replaces its own record. */
const memberName = (settings: Settings): string => {
  const place = [hostname(), settings.securePort, certificateDirectory(settings)].join(' ')
  return createHash('sha256').update(place).digest('hex').slice(0, 16)
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

const differences = (own: MemberRecord, other: MemberRecord): string[] =>
  (['authority', 'tokenKey'] as const)
    .filter((name) => own[name] && other[name] && own[name] !== other[name])
    .map((name) => words[name])

const differs = (other: MemberRecord, differing: readonly string[], settings: Settings): string =>
  `the server at ${other.url} on the same etcd has ${differing.join(' and ')}: ` +
  `credentials of one server are refused by the other. ${remedy(other, settings)}`

function remedy({ sharesKeys }: MemberRecord, settings: Settings): string {
  const directory = certificateDirectory(settings)
  if (settings.clusterSecretFile !== undefined)
    return 'Stop that server, move its pki directory away and start it with --cluster-secret-file and the same secret'
  if (sharesKeys)
    return `That server has a cluster secret: stop this one, move ${directory} away and start it with --cluster-secret-file and the same secret`
  return (
    `Stop one, replace its ${directory} by that of the other and start it again, ` +
    'or move it away and start all servers with the same --cluster-secret-file'
  )
}
