import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { prefixRange, RevisionCompacted, StorageUnavailable } from '#storage/storage.ts'
import { won } from '#storage/storage.suite.ts'
import { backup } from './backup.ts'
import { openSqliteStorage } from './sqlite.ts'

let place: string
before(() => {
  place = mkdtempSync(join(tmpdir(), 'binnacle-backup-'))
})
after(() => rmSync(place, { recursive: true }))

test('a backup during writes contains all earlier acknowledged writes, and a server starts from it', async () => {
  const directory = join(place, 'running')
  const storage = await openSqliteStorage({ directory })
  const put = (key: string) => storage.put(key, Buffer.alloc(500, key), { ifRevision: 0 })
  for (let i = 0; i < 20; i++) {
    await Promise.all(Array.from({ length: 20 }, (_, j) => put(`/registry/before-${i * 20 + j}`)))
  }
  const compacted = (await storage.currentRevision()) - 100
  await storage.compact(compacted)
  let busy = true
  const writing = (async () => {
    for (let i = 0; busy; i++) await put(`/registry/during-${i}`)
  })()
  const atLeast = await storage.currentRevision()
  const copied = join(place, 'copied')
  mkdirSync(copied)
  writeFileSync(join(copied, 'state.db'), 'what was there is replaced')
  await backup(join(directory, 'state.db'), join(copied, 'state.db'))
  const atMost = await storage.currentRevision()
  busy = false
  await writing
  await storage.close()
  assert.deepEqual(readdirSync(copied), ['state.db'])
  assert.equal(statSync(join(copied, 'state.db')).mode & 0o777, 0o600)

  const restored = await openSqliteStorage({ directory: copied })
  const revision = await restored.currentRevision()
  assert.ok(revision >= atLeast && revision <= atMost, `${atLeast} <= ${revision} <= ${atMost}`)
  const before = await restored.count(prefixRange('/registry/before-'))
  assert.equal(before.value, 400)
  await assert.rejects(restored.get('/registry/before-1', compacted - 1), RevisionCompacted)
  const next = await restored.put('/registry/after', Buffer.from('x'), { ifRevision: 0 })
  assert.equal(won(next), revision + 1)
  await restored.close()
})

test('other users cannot read a backup while it is written', async () => {
  const directory = join(place, 'secret')
  await (await openSqliteStorage({ directory })).close()
  const target = join(place, 'secret-copy')
  // A file existed before.
  writeFileSync(`${target}.unfinished`, '', { mode: 0o666 })
  const made = backup(join(directory, 'state.db'), target)
  assert.equal(statSync(`${target}.unfinished`).mode & 0o777, 0o600)
  await made
  assert.equal(statSync(target).mode & 0o777, 0o600)
})

test('a store that cannot be backed up is reported', async () => {
  const missing = join(place, 'missing.db')
  await assert.rejects(backup(missing, join(place, 'b.db')), (error: Error) => {
    assert.ok(error instanceof StorageUnavailable)
    return error.message.includes(missing)
  })
  const other = join(place, 'other.db')
  writeFileSync(other, 'no database')
  await assert.rejects(backup(other, join(place, 'b.db')), StorageUnavailable)
  await assert.rejects(backup(other, other), /over itself/)
  const nowhere = join(place, 'no', 'such', 'place')
  await assert.rejects(backup(other, nowhere), (error: Error) => {
    assert.equal(error.message, `the backup cannot be written to ${nowhere} (ENOENT)`)
    return error instanceof StorageUnavailable
  })
  assert.equal(
    readdirSync(place).some((name) => name.startsWith('b.db')),
    false,
  )
})

test('a database with a log next to it is not replaced: the log would be applied to the backup', async () => {
  const directory = join(place, 'source')
  const source = join(directory, 'state.db')
  const storage = await openSqliteStorage({ directory })
  await storage.put('/registry/x', Buffer.from('x'), { ifRevision: 0 })
  symlinkSync(directory, join(place, 'link'))
  mkdirSync(join(place, 'killed'))
  for (const end of ['', '-wal'])
    copyFileSync(`${source}${end}`, join(place, `killed/state.db${end}`))
  for (const what of ['link', 'killed']) {
    const target = join(place, what, 'state.db')
    await assert.rejects(backup(source, target), (error: Error) => {
      assert.match(error.message, /state\.db-wal would be taken for that of the backup/)
      return error instanceof StorageUnavailable
    })
  }
  await storage.close()
})
