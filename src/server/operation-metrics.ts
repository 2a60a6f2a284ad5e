/**
 * Operational metrics besides those of requests: size and revision of the store, free disk space,
 * compaction, backups, expiry of certificates, and watches. Their names begin with binnacle_,
 * because kube-apiserver does not have them.
 */
import { X509Certificate } from 'node:crypto'
import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { counter, gauge, type ValueFamily } from '#observe/metrics/metric.ts'
import type { Settings } from '#settings/flags.ts'
import type { Storage } from '#storage/storage.ts'
import type { Certificates } from './certificates.ts'
import type { Recorders } from './recorders.ts'

/** Files of the embedded store in the data directory. */
const storeFiles = ['state.db', 'state.db-wal']

export interface OperationMeter {
  compacted(atMs: number): void
  compactionFailed(): void
  backedUp(atMs: number, sizeBytes: number): void
  backupFailed(): void
  certificates(inUse: Certificates): void
  /** Updates the store's metrics at each scrape. */
  follow(storage: Storage, settings: Settings): void
  totals(): { requests: number; watchers: number }
}

export function operationMeter({ registry, metrics }: Recorders): OperationMeter {
  const plain = (
    name: string,
    help: string,
    labels: string[] = [],
    make: (name: string, ...labels: string[]) => ValueFamily = gauge,
  ) => registry.registerPlain(make(`binnacle_${name}`, ...labels), help)
  const compactions = plain(
    'store_compactions_total',
    'Compactions of the store, by result.',
    ['result'],
    counter,
  )
  const compactedAt = plain(
    'store_compaction_last_success_timestamp_seconds',
    'When history was last compacted, in seconds since 1970; 0 if it was not since the start.',
  ).labels()
  const backups = plain('backups_total', 'Scheduled backups, by result.', ['result'], counter)
  const backedUpAt = plain(
    'backup_last_success_timestamp_seconds',
    'When the last scheduled backup was complete, in seconds since 1970; 0 if there is none.',
  ).labels()
  const backupSize = plain('backup_size_bytes', 'Size of the last scheduled backup.').labels()
  const expiry = plain(
    'certificate_expiration_timestamp_seconds',
    'When certificates of the server expire, in seconds since 1970.',
    ['certificate'],
  )
  const watchers = plain('watchers', 'Running watches of all kinds.').labels()
  for (const result of ['success', 'failure']) {
    compactions.labels(result)
    backups.labels(result)
  }
  registry.collect(() => watchers.set(metrics.watchers.total()))
  return {
    compacted(atMs) {
      compactions.labels('success').add(1)
      compactedAt.set(atMs / 1000)
    },
    compactionFailed: () => compactions.labels('failure').add(1),
    backedUp(atMs, sizeBytes) {
      backups.labels('success').add(1)
      backedUpAt.set(atMs / 1000)
      backupSize.set(sizeBytes)
    },
    backupFailed: () => backups.labels('failure').add(1),
    certificates({ ca, serving, admin }) {
      for (const [name, { certificatePem }] of Object.entries({ ca, serving, admin })) {
        const { validTo } = new X509Certificate(certificatePem)
        expiry.labels(name).set(Date.parse(validTo) / 1000)
      }
    },
    follow(storage, settings) {
      const size = plain('store_size_bytes', 'Size of the files of the embedded store.', ['file'])
      const free = plain('store_free_bytes', 'Room on the disk of the data directory.').labels()
      const healthy = plain('store_healthy', 'Whether the store takes writes: 1 or 0.').labels()
      const revision = plain('store_revision', 'The newest revision of the store.').labels()
      const compacted = plain('store_compacted_revision', 'History before it is gone.').labels()
      registry.collect(async () => {
        healthy.set(storage.trouble() === undefined ? 1 : 0)
        compacted.set(storage.compactedUpTo())
        if (settings.storageBackend === 'sqlite') {
          for (const name of storeFiles)
            size.labels(name).set(fileBytes(join(settings.dataDir, name)))
          const { bavail, bsize } = statfsSync(settings.dataDir)
          free.set(bavail * bsize)
        }
        revision.set(await storage.currentRevision())
      })
    },
    totals: () => ({ requests: metrics.requests.total(), watchers: metrics.watchers.total() }),
  }
}

export const fileBytes = (path: string): number =>
  statSync(path, { throwIfNoEntry: false })?.size ?? 0
