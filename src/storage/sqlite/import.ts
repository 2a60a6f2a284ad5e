/**
 * Makes a database from the current objects of another store. Objects keep their revisions, so
 * clients can continue with their resourceVersions. Earlier history counts as compacted. It never
 * changes an existing database.
 */
import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Revision, Stored } from '#storage/storage.ts'
import { checksumOf, createDatabase, syncFile } from './schema.ts'

export interface Imported {
  readonly item: Stored
  /** The key is deleted this long after the import; 0 for keys that stay. */
  readonly ttlMs: number
}

export async function importDatabase(
  file: string,
  batches: AsyncIterable<readonly Imported[]>,
  /** The newest revision of the store that the objects come from. */
  revision: Revision,
  nowMs: number,
): Promise<void> {
  const unfinished = `${file}.import`
  createDatabase(unfinished)
  const database = new DatabaseSync(unfinished)
  try {
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; BEGIN')
    const log = database.prepare('INSERT INTO log VALUES (?, 0, 0, ?, ?, ?)')
    const expiry = database.prepare('INSERT INTO expiry VALUES (?, ?, ?)')
    const used = database.prepare('SELECT 1 FROM log WHERE revision = ?')
    let newest = revision
    for await (const batch of batches)
      for (const { item, ttlMs } of batch) {
        // Keys of one etcd transaction share a revision; here each needs its own.
        const at = used.get(item.revision) === undefined ? item.revision : ++newest
        log.run(at, item.key, checksumOf(item.key, item.bytes), item.bytes)
        if (ttlMs > 0) expiry.run(nowMs + ttlMs, at, ttlMs)
      }
    database.prepare('UPDATE state SET compacted = ?, swept = ?').run(newest, newest)
    database.exec('COMMIT; PRAGMA journal_mode = WAL')
  } catch (error) {
    database.close()
    rmSync(unfinished, { force: true })
    throw error
  }
  database.close()
  syncFile(unfinished)
  renameSync(unfinished, file)
  syncFile(dirname(file))
}
