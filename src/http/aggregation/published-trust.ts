/**
 * The ConfigMap `extension-apiserver-authentication`, with which aggregated servers verify this
 * server and the cluster's clients. Several servers write it; each adds its certificates and
 * removes expired ones.
 */
import { X509Certificate } from 'node:crypto'
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'

export interface PublishedTrust {
  /** PEM. */
  readonly clientAuthorities: string
  readonly proxy:
    | {
        readonly authorities: string
        readonly usernameHeaders: readonly string[]
        /** Undefined in releases that do not publish them. */
        readonly uidHeaders: readonly string[] | undefined
        readonly groupHeaders: readonly string[]
        readonly extraHeadersPrefix: readonly string[]
        readonly allowedNames: readonly string[]
      }
    | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
}

type Data = Readonly<Record<string, string>>

/** How often the ConfigMap is checked, because a client may change or delete it. */
const recheckMs = 60_000

/**
 * How often a write is retried: servers that start together write the ConfigMap at the same time.
 */
const attemptsMax = 5

const namespace = 'kube-system'
const name = 'extension-apiserver-authentication'
const configMaps = { group: '', version: 'v1', plural: 'configmaps' }

export function combinedData(
  existing: Data,
  { clientAuthorities, proxy, now }: PublishedTrust,
): Data {
  const data: Record<string, string> = {}
  const clients = combineCertificates([existing['client-ca-file'] ?? '', clientAuthorities], now())
  if (clients !== '') data['client-ca-file'] = clients
  const proxies = combineCertificates(
    [existing['requestheader-client-ca-file'] ?? '', proxy?.authorities ?? ''],
    now(),
  )
  if (proxies === '') return data
  const lists: [string, readonly string[]][] = [
    ['requestheader-username-headers', proxy?.usernameHeaders ?? []],
    ['requestheader-group-headers', proxy?.groupHeaders ?? []],
    ['requestheader-extra-headers-prefix', proxy?.extraHeadersPrefix ?? []],
    ['requestheader-allowed-names', proxy?.allowedNames ?? []],
  ]
  for (const [key, ours] of lists) {
    data[key] = JSON.stringify(unique(existing[key], ours))
  }
  const uidHeaders = proxy?.uidHeaders && unique(existing[uidKey], proxy.uidHeaders)
  if (uidHeaders !== undefined && uidHeaders.length > 0) data[uidKey] = JSON.stringify(uidHeaders)
  data['requestheader-client-ca-file'] = proxies
  return data
}

const uidKey = 'requestheader-uid-headers'

const unique = (text: string | undefined, ours: readonly string[]): string[] => [
  ...new Set([...listOf(text), ...ours]),
]

function listOf(text: string | undefined): string[] {
  if (text === undefined || text === '') return []
  const value: unknown = JSON.parse(text)
  return Array.isArray(value) ? value.map(String) : []
}

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function combineCertificates(bundles: readonly string[], nowMs: number): string {
  const kept = new Map<string, string>()
  for (const pem of bundles.join('\n').match(block) ?? []) {
    const certificate = new X509Certificate(pem)
    if (certificate.validToDate.getTime() < nowMs) continue
    kept.set(certificate.fingerprint256, certificate.toString())
  }
  return [...kept.values()].map((pem) => (pem.endsWith('\n') ? pem : `${pem}\n`)).join('')
}

async function publish(client: ApiClient, trust: PublishedTrust): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await publishOnce(client, trust)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409 || attempt === attemptsMax) throw error
    }
  }
}

async function publishOnce(client: ApiClient, trust: PublishedTrust): Promise<void> {
  let found: KubeObject | undefined
  try {
    found = await client.get(configMaps, namespace, name)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 404) throw error
  }
  const existing = (found?.data ?? {}) as Data
  const data = combinedData(existing, trust)
  if (found !== undefined && sameData(existing, data)) return
  const object = { ...(found ?? { metadata: { name, namespace } }), data } as KubeObject
  if (found === undefined) await client.create(configMaps, namespace, object)
  else await client.update(configMaps, object)
}

const sameData = (a: Data, b: Data): boolean => {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

/** Writes the ConfigMap now, and again whenever it differs. Returns a function that stops this. */
export async function publishTrust(
  client: ApiClient,
  trust: () => PublishedTrust,
  report: (message: string, error: unknown) => void,
): Promise<() => void> {
  const attempt = async () => {
    try {
      await publish(client, trust())
    } catch (error) {
      report(`${namespace}/${name} cannot be written`, error)
    }
  }
  await attempt()
  const timer = setInterval(attempt, recheckMs)
  timer.unref()
  return () => clearInterval(timer)
}
