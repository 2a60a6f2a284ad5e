/**
 * Copies the rows of a database while a server writes to it. Each read is short: a long read would
 * prevent the server from resetting its write-ahead log, which would then grow.
 *
 * Rows are added only after the newest revision, so a copy in the order of revisions misses none. A
 * compaction may delete rows that were already copied. When the copy has caught up, one read
 * compares the remaining rows:
 *
 *   rows there   1 2 3 4 5 6      2 and 3 are deleted, 7 is added        1 4 5 6 7
 *   copied       1 2 3            1 2 3 4 5 6                            1 4 5 6 7
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'

/** Bytes and rows per read: some milliseconds. */
const readBytesMax = 1024 * 1024
const readRowsMax = 500

/** The page cache of the copy, whose index is written in the order of revisions instead of keys. */
const cacheKibibytes = 65_536

/** The row of a write in the table's order. */
type Row = [revision: number, previous: number, deleted: number, key: string, sum: number, Value]
type Value = Uint8Array | null

interface Some {
  readonly rows: Row[]
  readonly isMore: boolean
}

export async function copyLog(from: DatabaseSync, to: DatabaseSync): Promise<void> {
  // Durability is not needed: the copy gets its name after it is complete and synced.
  to.exec(`PRAGMA journal_mode = OFF; PRAGMA cache_size = -${cacheKibibytes}; BEGIN`)
  const insert = to.prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)')
  const sweptBefore = one(from, 'SELECT swept FROM state')
  const select = from.prepare('SELECT * FROM log WHERE revision > ? ORDER BY revision')
  select.setReturnArrays(true)
  let after = 0
  for (let isBehind = true; isBehind; await turn()) {
    from.exec('BEGIN')
    const { rows, isMore } = readSome(select, after)
    if (!isMore) copyRest(from, to, sweptBefore)
    from.exec('COMMIT')
    for (const row of rows) insert.run(...row)
    after = rows.at(-1)?.[0] ?? after
    isBehind = isMore
  }
  to.exec('COMMIT')
}

function readSome(select: StatementSync, after: number): Some {
  const rows: Row[] = []
  let size = 0
  for (const read of select.iterate(after)) {
    const row = read as unknown as Row
    rows.push(row)
    size += row[5]?.length ?? 0
    if (size >= readBytesMax || rows.length >= readRowsMax) return { rows, isMore: true }
  }
  return { rows, isMore: false }
}

/** Copies state and deadlines, and deletes copied rows that no longer exist in the source. */
function copyRest(from: DatabaseSync, to: DatabaseSync, sweptBefore: number): void {
  const swept = one(from, 'SELECT swept FROM state')
  const compacted = one(from, 'SELECT compacted FROM state')
  to.prepare('UPDATE state SET compacted = ?, swept = ?').run(compacted, swept)
  const insert = to.prepare('INSERT INTO expiry VALUES (?, ?, ?)')
  const deadlines = from.prepare('SELECT * FROM expiry')
  deadlines.setReturnArrays(true)
  for (const row of deadlines.iterate()) insert.run(...(row as unknown as number[]))
  if (swept === sweptBefore) return
  // The index contains all needed columns and is much smaller than the table.
  const there = new Set<number>()
  const upTo = 'SELECT revision FROM log INDEXED BY log_by_key WHERE revision <= ?'
  for (const { revision } of from.prepare(upTo).iterate(swept)) there.add(Number(revision))
  const forget = to.prepare('DELETE FROM log WHERE revision = ?')
  for (const { revision } of to.prepare(upTo).all(swept))
    if (!there.has(Number(revision))) forget.run(Number(revision))
}

function one(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0])
}
