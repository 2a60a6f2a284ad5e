/**
 * `binnacle doctor` checks certificates, clock, disk, versions and the store, and recommends
 * actions. It changes nothing and can run next to a server. It exits with code 1 if a server could
 * not work.
 */
import { existsSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { databasePath, openOfflineStore } from '#server/offline-store.ts'
import { StorageUnavailable, Unreadable } from '#storage/storage.ts'
import type { Settings } from '#settings/flags.ts'
import { CannotUseFile } from '#server/private-files.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { checkCertificates } from './doctor/certificates.ts'
import { checkDisk } from './doctor/disk.ts'
import type { Finding } from './doctor/finding.ts'
import { checkObjects } from './doctor/objects.ts'
import { checkVersions } from './doctor/versions.ts'
import type { GivenCommand } from './command.ts'

export async function doctor({ flags: { settings } }: GivenCommand): Promise<void> {
  const findings = [
    ...checkVersions(settings),
    ...checkCertificates(settings, systemClock.now()),
    ...(settings.storageBackend === 'sqlite'
      ? checkDisk(settings.dataDir, databasePath(settings))
      : []),
    ...(await checkStore(settings)),
  ]
  for (const { level, area, text } of findings)
    process.stdout.write(`${level.padEnd(5)} ${area}: ${text}\n`)
  const count = (level: Finding['level']) => findings.filter((one) => one.level === level).length
  const [errors, warnings] = [count('error'), count('warn')]
  process.stdout.write(`${errors} errors, ${warnings} warnings\n`)
  if (errors > 0) process.exitCode = 1
}

async function checkStore(settings: Settings): Promise<Finding[]> {
  const { storageBackend, dataDir } = settings
  if (storageBackend === 'memory') return []
  if (storageBackend === 'sqlite' && !existsSync(dataDir)) {
    const text = 'no database yet: the first start makes it; --data-dir names another directory'
    return [{ level: 'ok', area: 'store', text }]
  }
  try {
    const store = await openOfflineStore(settings, () => {})
    try {
      return await checkObjects(store, settings.etcdPrefix, systemClock.now())
    } finally {
      await store.storage.close()
    }
  } catch (error) {
    const isKnown = [StorageUnavailable, Unreadable, CannotUseFile, CannotStart].some(
      (kind) => error instanceof kind,
    )
    if (!isKnown) throw error
    return [{ level: 'error', area: 'store', text: (error as Error).message }]
  }
}
