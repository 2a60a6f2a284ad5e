/**
 * `binnacle backup FILE` writes the state and its keys to one archive, even while a server uses
 * them.
 */
import { existsSync, statSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { type CopyDatabase, copyOfSqlite, writeBackup } from '#server/backup-archive.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { copyToDatabase } from '#server/copy-store.ts'
import { openForReading } from '#server/offline-store.ts'
import type { Settings } from '#settings/flags.ts'
import type { GivenCommand } from './command.ts'
import { progressLine } from './progress.ts'

export async function backupTo({ words, flags: { settings } }: GivenCommand): Promise<void> {
  const [file = ''] = words
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new CannotStart(`${file} is a directory; backup needs the file to write`)
  if (existsSync(`${file}-wal`))
    throw new CannotStart(`${file} is the database of a server (${file}-wal exists)`)
  const copy = settings.storageBackend === 'etcd3' ? copyOfEtcd(settings) : copyOfSqlite(settings)
  const sizeBytes = await writeBackup(settings, copy, file, systemClock.now())
  const source = settings.storageBackend === 'etcd3' ? 'etcd' : settings.dataDir
  process.stdout.write(`backed up ${source} to ${file} (${sizeBytes} bytes, with keys)\n`)
}

const copyOfEtcd =
  (settings: Settings): CopyDatabase =>
  async (file) => {
    const progress = progressLine('backup')
    const storage = await openForReading(settings, (text) => process.stderr.write(`${text}\n`))
    try {
      await copyToDatabase(storage, settings, file, systemClock.now(), progress.update)
    } finally {
      progress.end()
      await storage.close()
    }
  }
