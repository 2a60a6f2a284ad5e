/**
 * Locks the directory with the server's state for one process, and checks whether its files can be
 * opened. A file that looks damaged is reported by name and never changed. This module neither
 * repairs nor deletes state.
 */
import { closeSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeDirectory } from '#storage/make-directory.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import { readLog } from './found-log.ts'

export const databaseFileName = 'state.db'

const magic = Buffer.from('SQLite format 3\0')
const headerSizeBytes = 100

export interface DirectoryLock {
  release(): void
}

/**
 * Locks the directory for this process. The lock is SQLite's own, on an empty database. The kernel
 * releases it when the process ends for any reason. A second server in the same process is rejected
 * as well.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const pidFile = join(directory, 'lock.pid')
  let lock: DatabaseSync | undefined
  try {
    makeDirectory(directory)
    lock = new DatabaseSync(join(directory, 'lock'), { timeout: 0 })
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    writeFileSync(pidFile, `${process.pid}\n`)
  } catch (error) {
    lock?.close()
    throw refusal(directory, pidFile, error)
  }
  const held = lock
  return { release: () => held.close() }
}

function refusal(directory: string, pidFile: string, error: unknown): StorageUnavailable {
  const { errcode, message } = error as { errcode?: number; message: string }
  if (errcode === 5) {
    const words = `the data directory ${directory} is in use by another server${holder(pidFile)}`
    return new StorageUnavailable(words, { cause: error })
  }
  const words = `the data directory ${directory} cannot be written: ${message}`
  return new StorageUnavailable(words, { cause: error })
}

function holder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, 'utf8').trim()})`
  } catch {
    return ''
  }
}

export type FoundStore = 'nothing' | 'database'

/**
 * Checks the database file before SQLite opens it. SQLite takes an empty file for a new database
 * and deletes the log next to it, and does not notice a truncated last page. Call this only while
 * no connection of this process has the file open, because closing a file releases the locks of
 * this process on it.
 */
export function inspectDatabase(file: string): FoundStore {
  const size = sizeBytes(file)
  const walSize = sizeBytes(`${file}-wal`) ?? 0
  if (size === undefined) {
    if (walSize === 0) return 'nothing'
    throw damaged(file, `it is missing, but its log ${file}-wal is there`)
  }
  // SQLite would open a read-only file, and report the problem only at the first write.
  closeSync(openSync(file, 'r+'))
  if (size < headerSizeBytes) throw damaged(file, `it is truncated (${size} bytes)`)
  const header = readBytes(file, 0, headerSizeBytes)
  if (!header.subarray(0, magic.length).equals(magic)) {
    throw damaged(file, 'it does not begin as a database does')
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) {
    throw damaged(file, `it names a page size of ${pageSize}`)
  }
  const pages = header.readUInt32BE(28)
  const inLog = walSize > 0 ? pagesOfLog(`${file}-wal`, walSize, pageSize) : new Set<number>()
  for (let page = Math.floor(size / pageSize) + 1; page <= pages; page++) {
    if (inLog.has(page)) continue
    throw damaged(file, `it is truncated (${size} bytes of ${pages * pageSize})`)
  }
  return 'database'
}

/** Whether a file begins as a database does. A directory does not. */
export function isDatabase(file: string): boolean {
  if (!statSync(file).isFile() || (sizeBytes(file) ?? 0) < magic.length) return false
  return readBytes(file, 0, magic.length).equals(magic)
}

/**
 * The pages in the write-ahead log: a crash may have interrupted copying them into the database.
 */
function pagesOfLog(file: string, size: number, pageSize: number): ReadonlySet<number> {
  const { pages, problem } = reading(file, (descriptor) => readLog(descriptor, size, pageSize))
  if (problem !== undefined) throw damaged(file, problem)
  return pages
}

function damaged(file: string, words: string): StorageUnavailable {
  return new StorageUnavailable(
    `the database ${file} cannot be opened: ${words}; it was left as it is`,
  )
}

function sizeBytes(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}

function readBytes(file: string, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  reading(file, (descriptor) => readSync(descriptor, bytes, 0, length, position))
  return bytes
}

/**
 * Always closes the file, because the process may continue after a failure and open another store.
 */
function reading<T>(file: string, read: (descriptor: number) => T): T {
  const descriptor = openSync(file, 'r')
  try {
    return read(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
