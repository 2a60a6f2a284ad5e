/**
 * The statements of the writer inside a transaction. The caller begins and commits it. The class
 * uses no threads and no clock.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Revision } from '#storage/storage.ts'
import {
  deletion,
  type ExpireAnswer,
  numbersPerWrite,
  type Refused,
  type WriteAnswer,
  type QueuedWrite,
} from './protocol.ts'
import { checksumOf } from './schema.ts'

/** Keys that expire per transaction, so that a burst does not delay later writes. */
const expiredMax = 200

export interface Swept {
  readonly isMore: boolean
  readonly rows: number
}

type Row = [revision: Revision, deleted: number]

export class Transaction {
  #revision: Revision
  #statements: ReturnType<typeof prepare>

  constructor(database: DatabaseSync) {
    this.#statements = prepare(database)
    this.#revision = this.newestRevision()
  }

  /** Another connection may have written revisions up to `newest`. */
  follow(newest: Revision): void {
    if (newest > this.#revision) this.#revision = newest
  }

  /** Reads the state from the database again after a rollback. */
  reset(): void {
    this.#revision = this.newestRevision()
  }

  /**
   * A compaction may have deleted the newest row, so the newest revision is at least the compacted
   * one.
   */
  newestRevision(): Revision {
    const [newest] = this.#statements.newest.get() as unknown as [number | null]
    return Math.max(newest ?? 0, this.compacted(), 1)
  }

  compacted(): Revision {
    return (this.#statements.state.get() as unknown as [number, number])[0]
  }

  nextDeadline(): number | undefined {
    const [deadline] = this.#statements.nextDeadline.get() as unknown as [number | null]
    return deadline ?? undefined
  }

  write(request: QueuedWrite): WriteAnswer {
    const { keys, numbers, bytes } = request
    const revisions = new Float64Array(keys.length)
    const refused: Refused[] = []
    let offset = 0
    for (let index = 0; index < keys.length; index++) {
      const at = index * numbersPerWrite
      const ifRevision = numbers[at]
      const size = numbers[at + 1]
      const ttl = numbers[at + 3]
      const key = keys[index]
      const value = size === deletion ? null : bytes.subarray(offset, (offset += size))
      const newest = this.#newestOf(key)
      const current = newest && !newest[1] ? newest[0] : 0
      if (current !== ifRevision || (current === 0 && value === null)) {
        refused.push(this.#refusal(index, current))
        continue
      }
      revisions[index] = this.#append(key, newest?.[0] ?? 0, value)
      if (ttl > 0) this.#statements.insertExpiry.run(numbers[at + 2], this.#revision, ttl)
    }
    return { revisions, refused }
  }

  expire(now: number): ExpireAnswer {
    const { due, keyOf, deleteExpiry } = this.#statements
    const keys: string[] = []
    const revisions: Revision[] = []
    for (const row of due.all(now, expiredMax)) {
      const [deadline, revision] = row as unknown as [number, Revision]
      deleteExpiry.run(deadline, revision)
      const [key] = (keyOf.get(revision) as unknown as [string] | undefined) ?? []
      if (key === undefined) continue
      const newest = this.#newestOf(key)
      if (newest?.[0] !== revision) continue
      keys.push(key)
      revisions.push(this.#append(key, revision, null))
    }
    return { keys, revisions, nextDeadline: this.nextDeadline() }
  }

  shift(byMs: number): ExpireAnswer {
    this.#statements.shift.run(byMs)
    return { keys: [], revisions: [], nextDeadline: this.nextDeadline() }
  }

  settle(now: number): ExpireAnswer {
    this.#statements.settle.run(now)
    return { keys: [], revisions: [], nextDeadline: this.nextDeadline() }
  }

  compact(upTo: Revision): void {
    this.#statements.setCompacted.run(upTo)
  }

  /** Old rows up to this revision were deleted. */
  swept(): Revision {
    return (this.#statements.state.get() as unknown as [number, number])[1]
  }

  /** Deletes old rows of the next `count` revisions up to the compacted one. */
  sweep(count: number): Swept {
    const [compacted, swept] = this.#statements.state.get() as unknown as [number, number]
    if (swept >= compacted) return { isMore: false, rows: 0 }
    const upTo = Math.min(compacted, swept + count)
    const superseded = this.#statements.sweepSuperseded.run(swept, upTo)
    const deletions = this.#statements.sweepDeletions.run(swept, upTo)
    this.#statements.setSwept.run(upTo)
    return {
      isMore: upTo < compacted,
      rows: Number(superseded.changes) + Number(deletions.changes),
    }
  }

  /** Writes and restores a value, because SQLite does not write a value that is already there. */
  probe(): void {
    const compacted = this.compacted()
    this.#statements.setCompacted.run(compacted + 1)
    this.#statements.setCompacted.run(compacted)
  }

  #newestOf(key: string): Row | undefined {
    return this.#statements.newestOf.get(key) as unknown as Row | undefined
  }

  #append(key: string, previous: Revision, value: Uint8Array | null): Revision {
    const revision = ++this.#revision
    const deleted = value === null ? 1 : 0
    this.#statements.append.run(revision, previous, deleted, key, checksumOf(key, value), value)
    return revision
  }

  #refusal(index: number, revision: Revision): Refused {
    if (revision === 0) return { index, revision, bytes: undefined }
    const [value] = this.#statements.valueOf.get(revision) as unknown as [Uint8Array | null]
    return { index, revision, bytes: value ?? new Uint8Array(0) }
  }
}

function prepare(database: DatabaseSync) {
  const statement = (sql: string) => {
    const prepared = database.prepare(sql)
    prepared.setReturnArrays(true)
    return prepared
  }
  return {
    newest: statement('SELECT max(revision) FROM log'),
    state: statement('SELECT compacted, swept FROM state'),
    newestOf: statement(
      'SELECT revision, deleted FROM log WHERE key = ? ORDER BY revision DESC LIMIT 1',
    ),
    valueOf: statement('SELECT value FROM log WHERE revision = ?'),
    keyOf: statement('SELECT key FROM log WHERE revision = ?'),
    append: statement('INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)'),
    insertExpiry: statement('INSERT INTO expiry VALUES (?, ?, ?)'),
    deleteExpiry: statement('DELETE FROM expiry WHERE deadline = ? AND revision = ?'),
    due: statement(
      'SELECT deadline, revision FROM expiry WHERE deadline <= ? ORDER BY deadline LIMIT ?',
    ),
    nextDeadline: statement('SELECT min(deadline) FROM expiry'),
    shift: statement('UPDATE expiry SET deadline = deadline + ?'),
    settle: statement('UPDATE expiry SET deadline = ?1 + ttl WHERE deadline > ?1 + ttl'),
    setCompacted: statement('UPDATE state SET compacted = ?'),
    setSwept: statement('UPDATE state SET swept = ?'),
    sweepSuperseded: statement(
      `DELETE FROM log WHERE revision IN
        (SELECT previous FROM log WHERE revision > ? AND revision <= ? AND previous > 0)`,
    ),
    sweepDeletions: statement(
      'DELETE FROM log WHERE revision > ? AND revision <= ? AND deleted = 1',
    ),
  }
}
