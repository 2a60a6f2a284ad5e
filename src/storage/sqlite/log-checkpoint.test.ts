/** The log is reset in spite of readers, and its file becomes short again. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { LogCheckpoint, logFileBytes } from './log-checkpoint.ts'
import { createDatabase } from './schema.ts'

const place = mkdtempSync(join(tmpdir(), 'log-checkpoint-'))
after(() => rmSync(place, { recursive: true }))

const checkpointBytes = 512 * 1024

function open(name: string) {
  const file = join(place, name)
  createDatabase(file)
  const database = new DatabaseSync(file)
  const log = new LogCheckpoint(database, { file, checkpointBytes, busyMs: 1000 })
  const insert = database.prepare("INSERT INTO log VALUES (?, 0, 0, 'a', 0, ?)")
  let revision = 1
  const write = () => {
    insert.run(++revision, new Uint8Array(8000))
    log.added(16_000)
  }
  return { file, database, log, write }
}

test('a reader delays the reset of the log only while it reads', () => {
  const { file, database, log, write } = open('reader.db')
  const reader = new DatabaseSync(file, { readOnly: true })
  write()
  reader.exec('BEGIN; SELECT count(*) FROM log')
  const step = () => {
    write()
    if (log.isLong) log.copy()
  }
  while (logFileBytes(file) < 3 * checkpointBytes) step()
  assert.equal(log.isFarBeyond, true)
  assert.equal(log.failure, undefined, 'that is no failure')
  reader.exec('COMMIT')
  let writes = 0
  for (; logFileBytes(file) > checkpointBytes; writes++) step()
  assert.ok(writes < 20, `${writes}`)
  assert.equal(log.isFarBeyond, false)
  for (let i = 0; i < 200; i++) step()
  assert.ok(logFileBytes(file) < checkpointBytes * 1.5)
  reader.close()
  database.close()
})

test('an emptied log has an empty file, unless a connection reads from it', () => {
  const { file, database, log, write } = open('empty.db')
  const reader = new DatabaseSync(file, { readOnly: true })
  for (let i = 0; i < 10; i++) write()
  reader.exec('BEGIN; SELECT count(*) FROM log')
  log.empty()
  assert.ok(logFileBytes(file) > 0)
  reader.exec('COMMIT')
  log.empty()
  assert.equal(logFileBytes(file), 0)
  reader.close()
  database.close()
})
