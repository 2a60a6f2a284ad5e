/**
 * Copies the database while a server uses it. The copy contains exactly one revision of the store
 * and needs no other file. To restore it, put it into an empty data directory as `state.db` and
 * start a server there. The source is only read, in small steps.
 */
import { closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StorageUnavailable } from '#storage/storage.ts'
import { describeFailure } from './failure.ts'
import { copyLog } from './log-copy.ts'
import { makeTables, refuseStranger, syncFile } from './schema.ts'

/**
 * Copies a database to another file. The file appears only when it is complete, and replaces an
 * existing one.
 */
export async function backup(databaseFile: string, targetFile: string): Promise<void> {
  if (!statSync(databaseFile, { throwIfNoEntry: false })) {
    throw new StorageUnavailable(`there is no database ${databaseFile} to back up`)
  }
  if (resolve(databaseFile) === resolve(targetFile)) {
    throw new StorageUnavailable(`a backup of ${databaseFile} cannot be written over itself`)
  }
  if (statSync(`${targetFile}-wal`, { throwIfNoEntry: false })?.size) {
    throw new StorageUnavailable(
      `a backup cannot be written over ${targetFile}: a server uses it or was killed, and its log ${targetFile}-wal would be taken for that of the backup`,
    )
  }
  const unfinished = `${targetFile}.unfinished`
  makeUnfinished(unfinished, targetFile)
  try {
    await copy(databaseFile, unfinished)
    renameSync(unfinished, targetFile)
    syncFile(dirname(resolve(targetFile)))
  } catch (error) {
    throw new StorageUnavailable(
      `the backup of ${databaseFile} to ${targetFile} failed: ${describeFailure(error, databaseFile)}`,
      { cause: error },
    )
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/**
 * Creates an empty private file for SQLite to fill. SQLite itself would create a file that all
 * users can read until it is complete. An existing file may belong to another user. If the file
 * cannot be created, SQLite's error would blame the source database.
 */
function makeUnfinished(unfinished: string, targetFile: string): void {
  try {
    rmSync(unfinished, { force: true })
    closeSync(openSync(unfinished, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StorageUnavailable(`the backup cannot be written to ${targetFile} (${code})`, {
      cause: error,
    })
  }
}

async function copy(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(from, { readOnly: true, timeout: 5000 })
  try {
    refuseStranger(database, from)
    const copied = new DatabaseSync(to)
    try {
      makeTables(copied)
      await copyLog(database, copied)
      copied.exec('PRAGMA journal_mode = WAL')
    } finally {
      copied.close()
    }
  } finally {
    database.close()
  }
  syncFile(to)
}
