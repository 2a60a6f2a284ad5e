/**
 * Retires generated token Secrets that no client has used for a long time. The controller first
 * labels them as invalid, and deletes them later. Secrets that a pod refers to remain.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { timestampMs } from '#api/timestamp.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { accountNameKey, accountUidKey, tokenSecretType } from '#controllers/kept.ts'
import { queueFor, unlessMissing, unlessOvertaken } from '#controllers/queue-for.ts'
import { configMaps, pods, secrets, serviceAccounts } from '#controllers/resources.ts'
import { secretNamesOf } from './pod-secrets.ts'

const name = 'legacy-serviceaccount-token-cleaner-controller' as const
const dayMs = 24 * 3_600_000
/** The server writes the day since which it tracks tokens soon after its start. */
const untilTrackedMs = 60_000
const trackingName = 'kube-apiserver-legacy-service-account-token-tracking'
const lastUsedKey = 'kubernetes.io/legacy-token-last-used'
const invalidSinceKey = 'kubernetes.io/legacy-token-invalid-since'

export const legacyTokenCleaner: Controller = {
  name,
  account: 'legacy-service-account-token-cleaner',
  start(parts) {
    queueFor(name, parts, () => clean(parts)).add('all')
  },
}

/** `2026-11-19` */
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** Returns after how many milliseconds to look again. */
async function clean(parts: ControllerParts): Promise<number> {
  const { client, clock, legacyTokenUnusedMs } = parts
  const tracking = await unlessMissing(client.get(configMaps, 'kube-system', trackingName))
  const since: string | undefined = tracking?.['data']?.since
  if (!isDay(since)) return untilTrackedMs
  const now = clock.now()
  // The first day was not tracked from its beginning.
  if (now < Date.parse(since) + dayMs + legacyTokenUnusedMs) return dayMs
  const usedNames = new Map<string, Set<string>>()
  const query = { fieldSelector: `type=${tokenSecretType}` }
  const { items } = await client.list(secrets, '', query)
  for (const secret of items)
    if (isUnused(secret, now - legacyTokenUnusedMs) && (await isGenerated(parts, secret)))
      if (!(await isMounted(parts, secret, usedNames))) await retire(parts, secret, now)
  return dayMs
}

function isUnused({ metadata }: KubeObject, endMs: number): boolean {
  if (metadata.deletionTimestamp !== undefined) return false
  if (timestampMs(metadata.creationTimestamp ?? '') >= endMs) return false
  const lastUsed = metadata.labels?.[lastUsedKey]
  return lastUsed === undefined || (isDay(lastUsed) && lastUsed < dayOf(endMs))
}

/** The account of a generated Secret lists it. */
async function isGenerated(
  { client }: ControllerParts,
  { metadata }: KubeObject,
): Promise<boolean> {
  const { namespace = '', annotations = {} } = metadata
  const accountName = annotations[accountNameKey] ?? ''
  if (accountName === '') return false
  const account = await unlessMissing(client.get(serviceAccounts, namespace, accountName))
  const uid = annotations[accountUidKey] ?? ''
  if (account === undefined || (uid !== '' && uid !== account.metadata.uid)) return false
  return (account['secrets'] ?? []).some((one: Loose) => one.name === metadata.name)
}

async function isMounted(
  { client }: ControllerParts,
  { metadata }: KubeObject,
  known: Map<string, Set<string>>,
): Promise<boolean> {
  const { namespace = '', name: secretName = '' } = metadata
  let names = known.get(namespace)
  if (names === undefined) {
    const { items } = await client.list(pods, namespace)
    names = new Set(items.flatMap(secretNamesOf))
    known.set(namespace, names)
  }
  return names.has(secretName)
}

async function retire(
  { client, legacyTokenUnusedMs }: ControllerParts,
  { metadata }: KubeObject,
  now: number,
): Promise<void> {
  const { namespace = '', name: secretName = '', uid = '', resourceVersion = '' } = metadata
  const invalidSince = metadata.labels?.[invalidSinceKey]
  if (!isDay(invalidSince)) {
    const labels = { [invalidSinceKey]: dayOf(now) }
    const patch = { metadata: { uid, labels } }
    await unlessOvertaken(client.patch(secrets, namespace, secretName, patch))
  } else if (invalidSince < dayOf(now - legacyTokenUnusedMs))
    await unlessOvertaken(client.delete(secrets, namespace, secretName, { resourceVersion }))
}
