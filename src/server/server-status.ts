/** Four figures about the running server, for the status line or a page. */
import { join } from 'node:path'
import { prefixRange } from '#storage/storage.ts'
import { databaseFileName } from '#storage/sqlite/data-directory.ts'
import type { Foundation } from './foundation.ts'
import { fileBytes, type OperationMeter } from './operation-metrics.ts'

export interface ServerStatus {
  /** Milliseconds since the start. */
  readonly requests: number
  readonly watchers: number
  readonly objects: number
  /** The size of the store's files; undefined for a store in memory. */
  readonly storeBytes: number | undefined
}

/**
 * The maximum share of time spent on counting, because counting reads the index of the whole store.
 */
const countShare = 0.01

export function statusReader(
  { settings, storage }: Pick<Foundation, 'settings' | 'storage'>,
  meter: Pick<OperationMeter, 'totals'>,
): () => Promise<ServerStatus> {
  let objects = 0
  let countAgainAt = Number.NEGATIVE_INFINITY
  const count = async () => {
    const startedAt = performance.now()
    if (startedAt < countAgainAt) return
    objects = (await storage.count(prefixRange(`${settings.etcdPrefix}/`))).value
    const now = performance.now()
    countAgainAt = now + (now - startedAt) / countShare
  }
  const storeBytes = async () => {
    if (settings.storageBackend === 'memory') return undefined
    const files = [...((await storage.sizes?.())?.values() ?? [])]
    if (files.length > 0) return Math.max(...files)
    const database = join(settings.dataDir, databaseFileName)
    return fileBytes(database) + fileBytes(`${database}-wal`)
  }
  return async () => {
    await count()
    return { ...meter.totals(), objects, storeBytes: await storeBytes() }
  }
}
