/**
 * Copies of a database that changes meanwhile: writes, deletions and compactions between two reads.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Committer } from './committer.ts'
import { copyLog } from './log-copy.ts'
import { deletion, type Request } from './protocol.ts'
import { createDatabase, makeTables } from './schema.ts'

const place = mkdtempSync(join(tmpdir(), 'log-copy-'))
after(() => rmSync(place, { recursive: true }))

const writeOf = (keys: string[], ifRevision: (i: number) => number, size = 10): Request => ({
  kind: 'write',
  keys,
  numbers: new Float64Array(keys.flatMap((_, i) => [ifRevision(i), size, 5, 100])),
  bytes: new Uint8Array(keys.length * Math.max(0, size)),
})
const keys = Array.from({ length: 1800 }, (_, i) => `/registry/${i}`)

function contents(database: DatabaseSync): unknown[] {
  return ['log', 'expiry', 'state'].map((table) =>
    database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all(),
  )
}

test('the copy equals the database at the time of its last row', async () => {
  type Step = (committer: Committer) => void
  const transact = (committer: Committer, ...requests: Request[]) =>
    assert.equal(committer.transact(requests, 0).kind, 'committed')
  const remove: Step = (committer) =>
    transact(
      committer,
      writeOf(keys, (i) => i + 2, deletion),
    )
  const forget: Step = (committer) => {
    transact(committer, { kind: 'compact', upTo: committer.newestRevision() })
    while (committer.sweep()) {}
  }
  const update: Step = (committer) =>
    transact(
      committer,
      writeOf(keys, (i) => i + 2),
    )
  const create: Step = (committer) =>
    transact(
      committer,
      writeOf(['/registry/new'], () => 0),
    )
  // One of four reads is done.
  const rows: [what: string, steps: Step[]][] = [
    ['nothing', []],
    ['writes', [update, create]],
    ['deletions', [remove]],
    ['deletions that are forgotten before they are copied', [remove, forget, create]],
    ['updates that are forgotten before they are copied', [update, forget]],
  ]
  for (const [i, [what, steps]] of rows.entries()) {
    const file = join(place, `${i}.db`)
    createDatabase(file)
    const options = { file, checkpointBytes: 1e6, busyMs: 100, sweeps: false }
    const committer = new Committer(options)
    transact(
      committer,
      writeOf(keys, () => 0),
    )
    const from = new DatabaseSync(file, { readOnly: true })
    const to = new DatabaseSync(':memory:')
    makeTables(to)
    let isCopied = false
    const copied = copyLog(from, to).then(() => {
      isCopied = true
    })
    await turn()
    for (const step of steps) step(committer)
    assert.equal(isCopied, false, what)
    await copied
    assert.deepEqual(contents(to), contents(from), what)
    assert.equal(to.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
    from.close()
    to.close()
    committer.close()
  }
})
