/**
 * Reads the database on the server's thread without waiting for the writer. The caller limits each
 * read to a revision, so committed changes that are not yet announced are invisible. Rows with a
 * wrong checksum are never returned.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Change, KeyRange, Revision, Stored } from '#storage/storage.ts'
import { checksumOf, damagedAt, openToRead } from './schema.ts'

/** Rows per turn of the event loop: about a megabyte of objects, one or two milliseconds. */
export const rowsPerTurn = 500

/** Bytes of changes per read, which limits the memory of each reader that catches up. */
const changesBytesMax = 8 * 1024 * 1024

type Value = Uint8Array | null
type KeyRow = [revision: Revision, deleted: number, checksum: number, value: Value]
type ListRow = [key: string, revision: Revision, checksum: number, value: Value]
type LogRow = [key: string, revision: Revision, checksum: number, value: Value, deleted: number]

/**
 * Returns the newest row at the revision for each key of the range: with max(), SQLite takes
 * `deleted` from the row that has the maximum.
 */
const present = `SELECT key, max(revision) AS revision, deleted FROM log
  WHERE key >= ?1 AND key < ?2 AND revision <= ?3 GROUP BY key HAVING NOT deleted`

export class Reader {
  #file: string
  #database: DatabaseSync
  #get: StatementSync
  #list: StatementSync
  #count: StatementSync
  #log: StatementSync

  constructor(file: string) {
    this.#file = file
    this.#database = openToRead(file)
    this.#get = this.#prepare(
      `SELECT revision, deleted, checksum, value FROM log
        WHERE key = ? AND revision <= ? ORDER BY revision DESC LIMIT 1`,
    )
    this.#list = this.#prepare(
      `SELECT log.key, log.revision, log.checksum, log.value
        FROM (${present} LIMIT ?4) AS present CROSS JOIN log ON log.revision = present.revision`,
    )
    this.#count = this.#prepare(`SELECT count(*) FROM (${present})`)
    this.#log = this.#prepare(
      `SELECT key, revision, checksum, value, deleted FROM log
        WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?`,
    )
  }

  /**
   * A compaction may have taken the newest row, so the newest revision is at least the compacted
   * one.
   */
  newestRevision(): Revision {
    const row = this.#database.prepare('SELECT max(revision) AS newest FROM log').get()
    return Math.max(Number(row?.newest ?? 0), this.compacted(), 1)
  }

  compacted(): Revision {
    return Number(this.#database.prepare('SELECT compacted FROM state').get()?.compacted)
  }

  get(key: string, at: Revision): Stored | undefined {
    const row = this.#get.get(key, at) as unknown as KeyRow | undefined
    if (!row || row[1]) return undefined
    return { key, bytes: this.#bytes(key, row[0], row[2], row[3]), revision: row[0] }
  }

  /** The first keys of a range, at most `rowsPerTurn` of them. */
  list(range: KeyRange, at: Revision, limit: number): Stored[] {
    const rows = this.#list.all(range.start, range.end, at, limit) as unknown as ListRow[]
    return rows.map(([key, revision, checksum, value]) => ({
      key,
      bytes: this.#bytes(key, revision, checksum, value),
      revision,
    }))
  }

  count(range: KeyRange, at: Revision): number {
    return (this.#count.get(range.start, range.end, at) as unknown as [number])[0]
  }

  /** The first changes after one revision and up to another. */
  changes(after: Revision, upTo: Revision): Change[] {
    const changes: Change[] = []
    let size = 0
    for (const row of this.#log.iterate(after, upTo, rowsPerTurn)) {
      const [key, revision, checksum, value, deleted] = row as unknown as LogRow
      const bytes = this.#bytes(key, revision, checksum, value)
      changes.push({ key, revision, bytes: deleted ? undefined : bytes })
      size += bytes.length
      if (size >= changesBytesMax) break
    }
    return changes
  }

  close(): void {
    this.#database.close()
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }

  #bytes(key: string, revision: Revision, checksum: number, value: Value): Buffer {
    if (checksumOf(key, value) !== checksum) {
      throw damagedAt(this.#file, `the row of revision ${revision}`)
    }
    if (value === null) return Buffer.alloc(0)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
}
