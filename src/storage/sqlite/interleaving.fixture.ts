/**
 * Runs writes, reads, other writers, slow moments and restarts in a random order from a seed. A
 * model does the same one after the other. The queue must return and announce exactly what the
 * model does, including revisions.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '#base/seeded.ts'
import type { Change, Outcome, Revision } from '#storage/storage.ts'
import type { ExpireAnswer } from './protocol.ts'
import { createDatabase } from './schema.ts'
import { WriteQueue } from './write-queue.ts'

const keyCount = 12
const stepsMax = 120

interface Row {
  revision: Revision
  bytes: Buffer
  deadline: number
}

class Model {
  rows = new Map<string, Row>()
  revision: Revision = 1
  changes: Change[] = []

  write(key: string, ifRevision: Revision, bytes: Buffer | undefined, deadline: number): Outcome {
    const row = this.rows.get(key)
    if ((row?.revision ?? 0) !== ifRevision || !(row || bytes)) {
      return { ok: false, current: row && { key, revision: row.revision, bytes: row.bytes } }
    }
    return { ok: true, revision: this.#append(key, bytes, deadline) }
  }

  expire(now: number): string[] {
    const due = [...this.rows].filter(([, row]) => row.deadline > 0 && row.deadline <= now)
    due.sort(([, a], [, b]) => a.deadline - b.deadline || a.revision - b.revision)
    for (const [key] of due) this.#append(key, undefined, 0)
    return due.map(([key]) => key)
  }

  #append(key: string, bytes: Buffer | undefined, deadline: number): Revision {
    const revision = ++this.revision
    this.changes.push({ key, revision, bytes })
    if (bytes) this.rows.set(key, { revision, bytes, deadline })
    else this.rows.delete(key)
    return revision
  }
}

/** Throws if the queue and the model differ. Returns the number of writes. */
export async function interleave(seed: number, directory: string): Promise<number> {
  const file = join(directory, `${seed}.db`)
  createDatabase(file)
  const model = new Model()
  const chance = seeded(seed)
  try {
    for (let runs = 1 + chance(3); runs > 0; runs--) await run(file, model, chance)
    checkFile(file, model)
    return model.changes.length
  } finally {
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
  }
}

async function run(file: string, model: Model, chance: (limit: number) => number): Promise<void> {
  let slowMs = 0
  let now = 0
  const announced: Change[] = []
  const first = model.changes.length
  const queue = new WriteQueue(
    {
      file,
      checkpointBytes: 16_384 << chance(7),
      concurrentWritesMax: [0, 5, 40, 1e9][chance(4)],
      elapsed: () => (now += slowMs),
    },
    { committed: (changes) => announced.push(...changes) },
  )
  const other = new DatabaseSync(file)
  const reader = new DatabaseSync(file, { readOnly: true })
  const newest = reader.prepare('SELECT max(revision) AS revision FROM log')
  const waiting: Promise<void>[] = []
  const write = () => {
    const key = `/registry/${chance(keyCount)}`
    const known = model.rows.get(key)?.revision ?? 0
    const ifRevision = chance(6) === 0 ? chance(model.revision + 2) : known
    const bytes = chance(4) === 0 ? undefined : Buffer.alloc(chance(3000), String(chance(10)))
    const ttlMs = bytes && chance(5) === 0 ? 1 + chance(9) : 0
    const deadline = ttlMs && model.changes.length + ttlMs
    const expected = model.write(key, ifRevision, bytes, deadline)
    const answer = queue.write({ key, bytes, ifRevision, deadline, ttlMs })
    waiting.push(
      answer.then((outcome) => {
        assert.deepEqual(outcome, expected)
        if (!outcome.ok) return
        assert.ok((announced.at(-1)?.revision ?? 0) >= outcome.revision, 'announced first')
        assert.ok(Number(newest.get()?.revision) >= outcome.revision, 'in the file first')
      }),
    )
  }
  const expire = () => {
    const at = model.changes.length
    const keys = model.expire(at)
    waiting.push(
      queue.ask({ kind: 'expire', now: at }).then((answer) => {
        assert.deepEqual((answer as ExpireAnswer).keys, keys)
      }),
    )
  }
  const compact = () => {
    // Only announced changes are compacted: no other revision is known.
    const upTo = announced.at(-1)?.revision
    if (upTo) waiting.push(queue.ask({ kind: 'compact', upTo }).then(() => {}))
  }
  const steps: (() => unknown)[] = [
    write,
    write,
    write,
    async () => {
      write()
      await turn()
    },
    async () => {
      for (let i = chance(12); i > 0; i--) write()
      await Promise.all(waiting)
    },
    turn,
    () => Promise.all(waiting),
    () => sleep(chance(4)),
    expire,
    compact,
    () => waiting.push(queue.ask({ kind: 'probe' }).then(() => {})),
    () => {
      slowMs = chance(3) * 4
    },
    async () => {
      if (chance(5) > 0) return
      try {
        other.exec('BEGIN IMMEDIATE')
      } catch {
        return
      }
      write()
      await sleep(chance(20))
      other.exec('ROLLBACK')
    },
  ]
  for (let i = chance(stepsMax); i > 0; i--) await steps[chance(steps.length)]?.()
  if (chance(2) === 0) await Promise.all(waiting)
  await queue.close()
  await Promise.all(waiting)
  assert.deepEqual(announced, model.changes.slice(first))
  reader.close()
  other.close()
}

function checkFile(file: string, model: Model): void {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database
    .prepare('SELECT key, max(revision) AS revision, deleted, value FROM log GROUP BY key')
    .all() as unknown as { key: string; revision: number; deleted: number; value: Uint8Array }[]
  const present = rows.filter((row) => !row.deleted)
  assert.deepEqual(
    present.map(({ key, revision, value }) => [key, revision, Buffer.from(value ?? [])]),
    [...model.rows].toSorted().map(([key, { revision, bytes }]) => [key, revision, bytes]),
  )
  const [check] = database.prepare('PRAGMA integrity_check').all()
  assert.equal(check?.integrity_check, 'ok')
  database.close()
}
