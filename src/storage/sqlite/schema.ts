/**
 * The database file: its tables, its creation and its validation.
 *
 * The log has one row per write. The row with a key's highest revision is its current state; a
 * deletion is a row without a value. `previous` is the key's previous row, which a compaction
 * deletes once this row is old enough.
 *
 *   revision  previous  deleted  key                              value
 *   2         0         0        /registry/configmaps/default/a   {"data":1}
 *   3         2         0        /registry/configmaps/default/a   {"data":2}
 *   4         3         1        /registry/configmaps/default/a
 */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from '#base/crc32.ts'
import { type Revision, StorageUnavailable } from '#storage/storage.ts'
import { describeFailure, unavailable } from './failure.ts'

/** `Binn`: identifies the file's program in its header. */
const applicationId = 0x42696e6e
const formatVersion = 1

/**
 * Objects have one to two kilobytes: several fit in a page, and a single write changes few pages.
 */
export const pageSizeBytes = 8192

/**
 * The structure of databases up to this size is checked at start; for larger ones this would take
 * too long.
 */
const structureCheckedBytesMax = 16 * 1024 * 1024

/**
 * All rows of databases up to this size are checked at start; otherwise rows are checked when they
 * are read.
 */
const rowsCheckedBytesMax = 4 * 1024 * 1024

const tables = `
  CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    key TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    value BLOB
  );
  CREATE INDEX log_by_key ON log (key, revision, deleted);
  CREATE TABLE expiry (
    deadline INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    PRIMARY KEY (deadline, revision)
  ) WITHOUT ROWID;
  CREATE TABLE state (compacted INTEGER NOT NULL, swept INTEGER NOT NULL);
  INSERT INTO state VALUES (0, 0);
`

/**
 * Creates a database under a temporary name and renames it, so that the file is always complete.
 */
export function createDatabase(file: string): void {
  const unfinished = `${file}.new`
  for (const ending of ['', '-wal', '-shm', '-journal'])
    rmSync(unfinished + ending, { force: true })
  const database = new DatabaseSync(unfinished)
  try {
    makeTables(database)
    database.exec('PRAGMA journal_mode = WAL')
  } finally {
    database.close()
  }
  makePrivate(unfinished)
  syncFile(unfinished)
  renameSync(unfinished, file)
  syncFile(dirname(file))
}

/** Creates the tables in an empty file. The caller syncs the file. */
export function makeTables(database: DatabaseSync): void {
  database.exec(`PRAGMA page_size = ${pageSizeBytes}; PRAGMA synchronous = OFF`)
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion}`)
  database.exec(`BEGIN; ${tables} COMMIT`)
}

/**
 * Opens a database for reading. Rejects files of other programs, files of newer releases, and
 * damaged files.
 */
export function openToRead(file: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
    refuseStranger(database, file)
    const { size } = statSync(file)
    if (size <= structureCheckedBytesMax) checkStructure(database, file)
    if (size <= rowsCheckedBytesMax) checkRows(database, file)
    return database
  } catch (error) {
    database?.close()
    if (error instanceof StorageUnavailable) throw error
    const words = `${describeFailure(error, file)}; it was left as it is`
    throw new StorageUnavailable(words, { cause: error })
  }
}

export function refuseStranger(database: DatabaseSync, file: string): void {
  const id = pragma(database, 'application_id')
  if (id !== applicationId) {
    throw new StorageUnavailable(`${file} is not a database of this program; it was left as it is`)
  }
  const version = pragma(database, 'user_version')
  if (version > formatVersion) {
    throw new StorageUnavailable(
      `${file} was written by a newer release (format ${version}, this one reads ${formatVersion})`,
    )
  }
}

function checkStructure(database: DatabaseSync, file: string): void {
  const [problem] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
  if (problem.quick_check !== 'ok') throw damagedAt(file, problem.quick_check)
}

function checkRows(database: DatabaseSync, file: string): void {
  const rows = database.prepare('SELECT revision, key, checksum, value FROM log')
  for (const row of rows.iterate()) {
    const { revision, key, checksum, value } = row as unknown as CheckedRow
    if (checksumOf(key, value) !== checksum)
      throw damagedAt(file, `the row of revision ${revision}`)
  }
}

interface CheckedRow {
  revision: Revision
  key: string
  checksum: number
  value: Uint8Array | null
}

export function damagedAt(file: string, what: string): StorageUnavailable {
  return unavailable(`it is damaged (${what}); it was left as it is`, file)
}

/** Detects bytes that changed on disk without SQLite noticing. */
export function checksumOf(key: string, value: Uint8Array | null): number {
  const ofKey = crc32(key)
  return value === null || value.length === 0 ? ofKey : crc32(value, ofKey)
}

function pragma(database: DatabaseSync, name: string): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, number>
  return row[name]
}

/**
 * The database contains secrets, so other users of the machine must not read it. SQLite creates its
 * other files with the same mode.
 */
function makePrivate(file: string): void {
  chmodSync(file, 0o600)
}

export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
