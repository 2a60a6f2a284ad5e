/**
 * `binnacle restore FILE` restores an archive of `binnacle backup` into a data directory, or into
 * an etcd without objects. It never replaces an existing file. A plain database, as earlier
 * releases wrote, is accepted too; it contains no keys.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import {
  encryptionName,
  isBackupArchive,
  manifestName,
  unpackBackup,
} from '#server/backup-archive.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { certificateDirectory } from '#server/certificates.ts'
import { copyToStore } from '#server/copy-store.ts'
import { databasePath } from '#server/offline-store.ts'
import { ensurePrivateDirectory } from '#server/private-files.ts'
import { openStorage } from '#server/storage.ts'
import type { Settings } from '#settings/flags.ts'
import { databaseFileName, isDatabase, lockDirectory } from '#storage/sqlite/data-directory.ts'
import { ReadOnlySqlite } from '#storage/sqlite/read-only.ts'
import { openSqliteStorage } from '#storage/sqlite/sqlite.ts'
import type { GivenCommand } from './command.ts'
import { progressLine } from './progress.ts'

export async function restoreFrom({ words, flags: { settings } }: GivenCommand): Promise<void> {
  const [file = ''] = words
  if (!existsSync(file)) throw new CannotStart(`there is no file ${file}`)
  const isArchive = await isBackupArchive(file)
  if (!isArchive && !isDatabase(file)) throw new CannotStart(`${file} is not a backup`)
  refuseOccupied(settings)
  const isNew = !existsSync(settings.dataDir)
  try {
    await restoreInto(settings, file, isArchive)
  } catch (error) {
    if (isNew) rmSync(settings.dataDir, { recursive: true, force: true })
    throw error
  }
}

async function restoreInto(settings: Settings, file: string, isArchive: boolean): Promise<void> {
  ensurePrivateDirectory(settings.dataDir)
  const lock = lockDirectory(settings.dataDir)
  // On the same file system as the target, so that a rename is enough. Removed if the restore
  // fails.
  const work = mkdtempSync(join(settings.dataDir, 'restore-'))
  try {
    await (isArchive ? unpack(file, work) : copyFileSync(file, join(work, databaseFileName)))
    const objects =
      settings.storageBackend === 'etcd3'
        ? await intoEtcd(work, settings)
        : intoSqlite(work, settings)
    moveKeys(work, settings)
    const notes = [
      isArchive ? 'with keys' : 'without keys: the file is a plain database, so new keys are made',
      ...(existsSync(join(work, encryptionName)) ? [keepEncryption(work, settings)] : []),
    ]
    const target = settings.storageBackend === 'etcd3' ? 'etcd' : settings.dataDir
    process.stdout.write(`restored ${await objects} objects to ${target} (${notes.join('; ')})\n`)
  } finally {
    rmSync(work, { recursive: true, force: true })
    lock.release()
  }
}

function refuseOccupied(settings: Settings): void {
  const isSqlite = settings.storageBackend === 'sqlite'
  const found = [
    ...(isSqlite ? [databasePath(settings)] : []),
    join(certificateDirectory(settings), 'ca.crt'),
  ].find((path) => existsSync(path))
  if (found !== undefined)
    throw new CannotStart(
      `${found} exists: restore needs an empty directory; name another with --data-dir, or move it away`,
    )
}

async function unpack(file: string, work: string): Promise<void> {
  ensurePrivateDirectory(join(work, 'pki'))
  await unpackBackup(file, (name) => {
    if (name === manifestName) return undefined
    if (/^(pki\/[\w.-]+|state\.db|encryption\.yaml)$/.test(name)) return join(work, name)
    throw new CannotStart(`${file} has an unexpected file ${name}`)
  })
}

async function intoSqlite(work: string, settings: Settings): Promise<number> {
  const database = join(work, databaseFileName)
  // Reads the whole archive first, so that a damaged backup is rejected before it is restored.
  const storage = new ReadOnlySqlite(database)
  const { value } = await storage.count({ start: '/', end: '0' })
  await storage.close()
  for (const ending of ['-wal', '-shm']) rmSync(database + ending, { force: true })
  renameSync(database, databasePath(settings))
  return value
}

async function intoEtcd(work: string, settings: Settings): Promise<number> {
  const progress = progressLine('restore')
  const from = await openSqliteStorage({ directory: work })
  try {
    const warn = (text: string) => void process.stderr.write(`${text}\n`)
    const to = await openStorage(settings, systemClock, warn)
    try {
      return await copyToStore(from, to, settings, progress.update)
    } finally {
      await to.close()
    }
  } finally {
    progress.end()
    await from.close()
  }
}

function moveKeys(work: string, settings: Settings): void {
  const from = join(work, 'pki')
  if (!existsSync(from)) return
  const to = certificateDirectory(settings)
  ensurePrivateDirectory(to)
  for (const name of readdirSync(from)) renameSync(join(from, name), join(to, name))
}

function keepEncryption(work: string, settings: Settings): string {
  const path = join(settings.dataDir, encryptionName)
  ensurePrivateDirectory(dirname(path))
  renameSync(join(work, encryptionName), path)
  return `start with --encryption-provider-config=${path}`
}
