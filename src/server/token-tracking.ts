/**
 * The ConfigMap with the day since which legacy service account tokens are tracked: a token that is
 * not labelled as used since that day is unused.
 */
import { ApiError } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps' }
const namespace = 'kube-system'
const name = 'kube-apiserver-legacy-service-account-token-tracking'
const day = /^\d{4}-\d\d-\d\d$/

/** `2026-11-19` */
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const isDay = (text: unknown): boolean =>
  typeof text === 'string' && day.test(text) && !Number.isNaN(Date.parse(text))

const overtaken = new Set(['AlreadyExists', 'Conflict', 'NotFound'])

export async function trackTokens(client: ApiClient, nowMs: number): Promise<void> {
  const since = dayOf(nowMs)
  try {
    const there = await client.get(configMaps, namespace, name).catch((error) => {
      if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error
      return undefined
    })
    if (there === undefined)
      await client.create(configMaps, namespace, { metadata: { name }, data: { since } })
    else if (!isDay(there['data']?.since))
      await client.update(configMaps, { ...there, data: { ...there['data'], since } })
  } catch (error) {
    // A peer wrote it, or the namespace does not exist yet: the next call looks again.
    if (!(error instanceof ApiError && overtaken.has(error.reason))) throw error
  }
}
