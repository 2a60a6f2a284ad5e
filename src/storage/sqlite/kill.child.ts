/**
 * A process that is killed while it writes. It first compares the notes of the previous process
 * with the state that it finds. Then it writes as fast as it can, and notes each acknowledged write
 * and each change of the feed. The notes are in a file, so they survive the kill. Started by
 * kill.test.ts only.
 *
 * In the round `rehearsal` it only starts and ends, to fill the compile cache, which a killed
 * process cannot do.
 *
 *   kill.child.ts <data directory> <notes of the round before> <notes of this round> <round>
 *                 <bytes of the log> <writes in company>
 */
import assert from 'node:assert/strict'
import { existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import { prefixRange, type Revision, type Storage } from '#storage/storage.ts'
import { openSqliteStorage } from './sqlite.ts'

const [directory, notesBefore, notesNow, round, logBytes, concurrentWritesMax] = process.argv.slice(
  2,
) as [string, string, string, string, string, string]
const storage = await openSqliteStorage({
  directory,
  checkpointBytes: Number(logBytes),
  concurrentWritesMax: Number(concurrentWritesMax),
})
if (existsSync(notesBefore)) {
  await check(storage, readFileSync(notesBefore, 'utf8').split('\n').slice(0, -1))
}
const notes = openSync(notesNow, 'w')
// From here on the parent may kill at any moment.
await storage.put(`/registry/ready/${round}`, Buffer.from('ready'), { ifRevision: 0 })
if (round === 'rehearsal') {
  await storage.close()
  process.exit()
}
process.stdout.write('ready\n')
follow(await storage.currentRevision())
/** From time to time one write is alone. */
const lanes = Number(round) % 4 === 3 ? 1 : 12
const answered: Revision[] = new Array(lanes).fill(0)
for (let lane = 0; lane < answered.length; lane++) write(lane)

function note(...words: unknown[]): void {
  writeSync(notes, `${words.join(' ')}\n`)
}

async function follow(after: Revision): Promise<void> {
  const { signal } = new AbortController()
  for await (const batch of storage.changes({ after, signal })) {
    for (const { key, revision, bytes } of batch) note('seen', key, revision, bytes ?? '-')
  }
}

async function write(lane: number): Promise<void> {
  let revision = 0
  const key = `/registry/lane/${round}-${lane}`
  for (let turn = 0; ; turn++) {
    if (turn % 5 === 4) {
      const outcome = await storage.delete(key, { ifRevision: revision })
      assert.ok(outcome.ok, `lane ${lane} lost its key`)
      note('answered', key, outcome.revision, '-')
      answered[lane] = outcome.revision
      revision = 0
      // Changes after the last acknowledged write are kept: the next process looks there for
      // unacknowledged deletions.
      if (lane === 0) await storage.compact(Math.min(...answered))
      continue
    }
    const value = `${turn}-${'x'.repeat((turn * 97) % 1500)}`
    const outcome = await storage.put(key, Buffer.from(value), { ifRevision: revision })
    assert.ok(outcome.ok, `lane ${lane} lost its key`)
    revision = outcome.revision
    answered[lane] = revision
    note('answered', key, revision, value)
  }
}

interface Known {
  revision: Revision
  value: string
}

async function check(storage: Storage, lines: string[]): Promise<void> {
  const newest = new Map<string, Known>()
  const seen = new Map<Revision, string>()
  for (const line of lines) {
    const [what, key, revision, value] = line.split(' ') as [string, string, string, string]
    const known = { revision: Number(revision), value }
    if (what === 'answered') {
      if (known.revision > (newest.get(key)?.revision ?? 0)) newest.set(key, known)
      continue
    }
    assert.equal(seen.has(known.revision), false, `revision ${revision} was on the feed twice`)
    seen.set(known.revision, `${key} ${value}`)
  }
  const { value: page, revision: now } = await storage.list(prefixRange('/registry/lane/'))
  const present = new Map(page.items.map((item) => [item.key, item]))
  for (const [key, { revision, value }] of newest) {
    assert.ok(now >= revision, `the store is at ${now}, before the answered ${revision}`)
    const stored = present.get(key)
    // An unacknowledged later write may have reached the disk; an acknowledged one is never undone.
    if (stored) assert.ok(stored.revision >= revision, `${key} lost its revision ${revision}`)
    else if (value !== '-') await requireDeletion(storage, key, revision)
    if (stored?.revision === revision) assert.equal(stored.bytes.toString(), value)
  }
  for (const [revision, what] of seen) {
    assert.ok(revision <= now, `a reader saw ${what} at ${revision}, which is not there`)
  }
  for (const item of page.items) {
    const shown = seen.get(item.revision)
    if (shown) assert.equal(`${item.key} ${item.bytes.toString()}`, shown)
  }
}

/**
 * A key is missing although its last acknowledged write was no deletion, so the feed must show a
 * deletion.
 */
async function requireDeletion(storage: Storage, key: string, after: Revision): Promise<void> {
  const now = await storage.currentRevision()
  const { signal } = new AbortController()
  for await (const batch of after < now ? storage.changes({ after, signal }) : []) {
    if (batch.some((change) => change.key === key && !change.bytes)) return
    if ((batch.at(-1)?.revision ?? 0) >= now) break
  }
  assert.fail(`${key} of revision ${after} is lost`)
}
