/** `binnacle backup FILE`: a copy of the database of a data directory, whether a server runs on it or not. */
import { join } from 'node:path'
import { backup } from '#storage/sqlite/backup.ts'
import { databaseFileName } from '#storage/sqlite/data-directory.ts'
import type { Settings } from './flags.ts'

export async function backupTo(settings: Settings, file: string): Promise<void> {
  await backup(join(settings.dataDir, databaseFileName), file)
  process.stdout.write(`backed up ${settings.dataDir} to ${file}\n`)
}
