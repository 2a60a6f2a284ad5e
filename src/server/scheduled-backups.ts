/**
 * Writes a backup every --backup-interval. The interval starts at the newest existing backup, so a
 * restart does not delay the next one. Old backups are deleted only after a new one is complete.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { timerMsMax, type TimerClock } from '#base/clock.ts'
import type { Log } from '#observe/log.ts'
import type { Settings } from '#settings/flags.ts'
import { type CopyDatabase, copyOfSqlite, writeBackup } from './backup-archive.ts'
import { copyToDatabase } from './copy-store.ts'
import { openForReading } from './offline-store.ts'
import type { OperationMeter } from './operation-metrics.ts'
import { ensurePrivateDirectory } from './private-files.ts'

/** After a failure, such as a full disk, the next attempt comes sooner than the next interval. */
const retryMsMax = 10 * 60_000

const namePattern = /^binnacle-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar$/

export function backUpRegularly(
  settings: Settings,
  clock: TimerClock,
  log: Log,
  meter: Pick<OperationMeter, 'backedUp' | 'backupFailed'>,
): { stop(): void } {
  const { backupIntervalMs: intervalMs, backupKeep } = settings
  const directory = settings.backupDir ?? join(settings.dataDir, 'backups')
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const next = (dueMs: number) => {
    if (isStopped) return
    // A timer cannot wait for a very long interval, so it waits several times.
    timer = setTimeout(
      () => (dueMs > timerMsMax ? next(dueMs - timerMsMax) : void turn()),
      Math.min(Math.max(dueMs, 0), timerMsMax),
    ).unref()
  }
  const turn = async () => {
    try {
      ensurePrivateDirectory(directory)
      const file = join(directory, nameAt(clock.now()))
      const sizeBytes = await writeBackup(settings, copyOf(settings, log), file, clock.now())
      meter.backedUp(clock.now(), sizeBytes)
      for (const name of backupsIn(directory).slice(0, -backupKeep)) rmSync(join(directory, name))
      log.info('backup written', { file, sizeBytes })
      next(intervalMs)
    } catch (error) {
      meter.backupFailed()
      log.error('the backup failed; the server tries again', { error })
      next(Math.min(intervalMs, retryMsMax))
    }
  }
  const newest = backupsIn(directory).at(-1)
  next(newest === undefined ? 0 : timeOf(newest) + intervalMs - clock.now())
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** A name such as `binnacle-20261119T105300Z.tar`. Sorting names sorts by time. */
const nameAt = (ms: number): string =>
  `binnacle-${new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar`

const timeOf = (name: string): number => Date.parse(name.replace(namePattern, '$1-$2-$3T$4:$5:$6Z'))

/** The backups in the directory, oldest first. Other files are ignored. */
function backupsIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => namePattern.test(name))
      .sort()
  } catch {
    return []
  }
}

function copyOf(settings: Settings, log: Log): CopyDatabase {
  if (settings.storageBackend === 'sqlite') return copyOfSqlite(settings)
  return async (file) => {
    // Uses its own connection, which copies values as they are stored.
    const storage = await openForReading(settings, (message) => log.warn(message))
    try {
      await copyToDatabase(storage, settings, file, Date.now(), () => {})
    } finally {
      await storage.close()
    }
  }
}
