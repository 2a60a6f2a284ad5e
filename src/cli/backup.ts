/** `binnacle backup FILE`: a copy of the database of a data directory, whether a server runs on it or not. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { backup } from '#storage/sqlite/backup.ts'
import { databaseFileName } from '#storage/sqlite/data-directory.ts'
import { CannotStart } from '#server/cannot-start.ts'
import type { Settings } from '#settings/flags.ts'

export async function backupTo(settings: Settings, file: string): Promise<void> {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new CannotStart(`${file} is a directory; backup wants the file to write`)
  await backup(join(settings.dataDir, databaseFileName), file)
  process.stdout.write(`backed up ${settings.dataDir} to ${file}\n`)
}
