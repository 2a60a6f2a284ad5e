/**
 * Reads a whole database and reports inconsistencies. It checks pages, checksums of rows, and the
 * chain of revisions of each key. It finds deadlines without a row, and state beyond the newest
 * revision. It changes nothing.
 */
import { DatabaseSync } from 'node:sqlite'
import type { Revision } from '#storage/storage.ts'
import { checksumOf, refuseStranger } from './schema.ts'

/** Problems of one kind beyond this number are counted, not listed. */
const problemsMax = 100

export interface DatabaseReport {
  readonly rows: number
  readonly problems: readonly string[]
}

interface LogRow {
  readonly revision: Revision
  readonly previous: Revision
  readonly deleted: number
  readonly key: string
  readonly checksum: number
  readonly value: Uint8Array | null
}

export function checkDatabase(
  file: string,
  progress: (done: number, total: number) => void,
): DatabaseReport {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  const problems: string[] = []
  const report = (problem: string) => {
    if (problems.length < problemsMax) problems.push(problem)
  }
  try {
    refuseStranger(database, file)
    database.exec('BEGIN')
    for (const row of database.prepare('PRAGMA integrity_check(20)').all()) {
      const [found] = Object.values(row)
      if (found !== 'ok') report(`structure: ${found}`)
    }
    const rows = checkRows(database, report, progress)
    checkMarks(database, report)
    return { rows, problems }
  } finally {
    database.close()
  }
}

const chainOf = `SELECT revision, previous, deleted, key, checksum, value FROM log
  ORDER BY key, revision`

/**
 * Checks that each row is intact and that its `previous` is the key's previous row, or one that a
 * compaction deleted.
 */
function checkRows(
  database: DatabaseSync,
  report: (problem: string) => void,
  progress: (done: number, total: number) => void,
): number {
  const total = numberOf(database, 'SELECT count(*) FROM log')
  const swept = numberOf(database, 'SELECT swept FROM state')
  let rows = 0
  let before: LogRow | undefined
  for (const read of database.prepare(chainOf).iterate()) {
    const row = read as unknown as LogRow
    const { revision, previous, key } = row
    if (checksumOf(key, row.value) !== row.checksum)
      report(`revision ${revision} of ${key}: the checksum differs`)
    if (row.deleted === 1 && row.value !== null)
      report(`revision ${revision} of ${key}: a deletion has a value`)
    const isFirst = before?.key !== key
    if (!isFirst && previous !== before?.revision)
      report(`revision ${revision} of ${key}: follows ${previous}, expected ${before?.revision}`)
    if (isFirst && previous > swept)
      report(`revision ${revision} of ${key}: revision ${previous} before it is missing`)
    before = row
    progress(++rows, total)
  }
  return rows
}

function checkMarks(database: DatabaseSync, report: (problem: string) => void): void {
  const [compacted, swept] = ['compacted', 'swept'].map((name) =>
    numberOf(database, `SELECT ${name} FROM state`),
  ) as [number, number]
  if (swept > compacted) report(`swept up to ${swept}, but compacted only up to ${compacted}`)
  const lost = 'SELECT count(*) FROM expiry WHERE deadline <= 0 OR ttl <= 0'
  const count = numberOf(database, lost)
  if (count > 0) report(`${count} deadlines have no time`)
}

const numberOf = (database: DatabaseSync, sql: string): number =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0])
