/** Faults of the disk: full, read-only, damaged, truncated. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { until } from '#base/until.fixture.ts'
import { prefixRange, type Storage, StorageUnavailable } from '#storage/storage.ts'
import { won } from '#storage/storage.suite.ts'
import { pageSizeBytes } from './schema.ts'
import { openSqliteStorage } from './sqlite.ts'

let place: string
before(() => {
  place = mkdtempSync(join(tmpdir(), 'binnacle-faults-'))
})
after(() => rmSync(place, { recursive: true }))

describe('a damaged database is reported by name and not changed', () => {
  let sound: string
  before(async () => {
    sound = join(place, 'sound')
    const storage = await openSqliteStorage({ directory: sound })
    for (let i = 0; i < 300; i++) {
      won(await storage.put(`/registry/${i}`, Buffer.alloc(1000, `${i} `), { ifRevision: 0 }))
    }
    await storage.close()
  })

  const noise = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251))
  const overwrite = (file: string, at: number, bytes: Buffer) => {
    const whole = readFileSync(file)
    bytes.copy(whole, at)
    writeFileSync(file, whole)
  }
  type Damage = (file: string) => void
  const cases: [string, Damage, RegExp][] = [
    ['empty', (file) => truncateSync(file), /truncated \(0 bytes\)/],
    ['a few bytes', (file) => truncateSync(file, 50), /truncated \(50 bytes\)/],
    ['half', (file) => truncateSync(file, 150_000), /truncated \(150000 bytes of/],
    ['all but its end', (file) => truncateSync(file, size(file) - 10), /truncated/],
    ['noise at its head', (file) => overwrite(file, 0, noise), /does not begin as a database/],
    ['noise after its head', (file) => overwrite(file, 100, noise), /damaged|not a database/],
    ['noise in its middle', (file) => overwrite(file, 123_456, noise), /damaged/],
    ['noise in its index', (file) => overwrite(file, indexAt(file), noise), /damaged/],
    ['one bit of a value', (file) => flipBit(file, '123 123 123'), /row of revision \d+/],
    ['no database at all', (file) => writeFileSync(file, 'hello '.repeat(99)), /does not begin as/],
    ['of another program', (file) => makeStranger(file), /not a database of this program/],
    ['of a newer release', (file) => setVersion(file, 99), /newer release \(format 99/],
    ['an invalid log', (file) => writeFileSync(`${file}-wal`, noise), /state.db-wal/],
    ['its log alone', (file) => leaveLogAlone(file), /it is missing, but its log/],
  ]
  for (const [name, damage, words] of cases) {
    test(name, async () => {
      const directory = mkdtempSync(join(place, 'damaged-'))
      const file = join(directory, 'state.db')
      copyFileSync(join(sound, 'state.db'), file)
      damage(file)
      const before = contents(directory)
      await assert.rejects(openSqliteStorage({ directory }), (error: Error) => {
        assert.ok(error instanceof StorageUnavailable, `${error}`)
        assert.ok(error.message.includes(file), error.message)
        assert.match(error.message, words)
        return true
      })
      const now = contents(directory)
      for (const [path, bytes] of before) assert.ok(now.get(path)?.equals(bytes), `${path} changed`)
      await assert.rejects(openSqliteStorage({ directory }), StorageUnavailable)
    })
  }

  test('one bit of its log', async () => {
    const storage = await openSqliteStorage({ directory: join(place, 'running') })
    for (const name of ['a', 'b', 'c', 'd'])
      won(await storage.put(`/registry/${name}`, Buffer.alloc(1000, name), { ifRevision: 0 }))
    // As after a crash.
    const directory = mkdtempSync(join(place, 'damaged-'))
    for (const name of ['state.db', 'state.db-wal'])
      copyFileSync(join(place, 'running', name), join(directory, name))
    await storage.close()
    flipBit(join(directory, 'state.db-wal'), 'bbb')
    const before = contents(directory)
    const words = /state\.db-wal cannot be opened: it is damaged at byte \d+; it was left as it is/
    await assert.rejects(openSqliteStorage({ directory }), words)
    assert.deepEqual(contents(directory), before)
  })

  test('the undamaged database opens', async () => {
    const storage = await openSqliteStorage({ directory: sound })
    assert.equal((await storage.count(prefixRange('/registry/'))).value, 300)
    await storage.close()
  })
})

describe('a directory that cannot be written is reported by name', () => {
  for (const state of ['empty', 'with state']) {
    test(state, async () => {
      const directory = join(place, `read-only ${state}`)
      if (state === 'empty') mkdirSync(directory)
      else await (await openSqliteStorage({ directory })).close()
      chmodSync(directory, 0o555)
      for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o444)
      chmodSync(place, 0o755)
      // Permissions do not bind root: it acts as another user for a moment.
      if (process.getuid?.() === 0) process.seteuid?.(65534)
      try {
        await assert.rejects(openSqliteStorage({ directory }), (error: Error) => {
          assert.ok(error instanceof StorageUnavailable, `${error}`)
          assert.ok(error.message.includes(directory), error.message)
          assert.match(error.message, /cannot be written/)
          return true
        })
      } finally {
        if (process.getuid?.() === 0) process.seteuid?.(0)
        chmodSync(directory, 0o755)
      }
    })
  }
})

test('a read-only database in a writable directory is reported by name and not changed', async () => {
  const directory = join(place, 'read-only file')
  await (await openSqliteStorage({ directory })).close()
  const file = join(directory, 'state.db')
  for (const path of [place, directory, join(directory, 'lock'), join(directory, 'lock.pid')])
    chmodSync(path, 0o777)
  chmodSync(file, 0o444)
  const before = contents(directory)
  // Permissions do not bind root: it acts as another user for a moment.
  if (process.getuid?.() === 0) process.seteuid?.(65534)
  try {
    await assert.rejects(openSqliteStorage({ directory }), (error: Error) => {
      assert.ok(error instanceof StorageUnavailable, `${error}`)
      assert.ok(error.message.includes(`${file} cannot be used: `), error.message)
      return true
    })
  } finally {
    if (process.getuid?.() === 0) process.seteuid?.(0)
  }
  assert.deepEqual(contents(directory), before)
})

test('a database that is removed or replaced during use is trouble until it is back', async () => {
  const directory = join(place, 'taken-away')
  const file = join(directory, 'state.db')
  const storage = await openSqliteStorage({ directory })
  assert.equal(storage.trouble(), undefined)
  renameSync(file, `${file}.away`)
  const words = /state\.db was removed or replaced while it is in use/
  assert.match(storage.trouble() ?? '', words)
  copyFileSync(`${file}.away`, file)
  assert.match(storage.trouble() ?? '', words)
  renameSync(`${file}.away`, file)
  assert.equal(storage.trouble(), undefined)
  await storage.close()
})

describe('a full disk', () => {
  test('a small file system: writes fail with a clear error, reads succeed, and it recovers by itself', async (t) => {
    const directory = join(place, 'small')
    mkdirSync(directory)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', directory], { stdio: 'pipe' })
    } catch (error) {
      t.skip(`no small file system can be mounted here: ${(error as Error).message.trim()}`)
      return
    }
    try {
      await fillAndRecover(directory)
    } finally {
      execFileSync('umount', ['-l', directory])
    }
  })

  test('a limit on the size of files: the same, in a process under that limit', async () => {
    const directory = join(place, 'limited')
    const child = fileURLToPath(new URL('./full-disk.child.ts', import.meta.url))
    const command = 'ulimit -S -f 1000; exec "$0" "$@"'
    const limited = spawn('sh', ['-c', command, process.execPath, child, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface(limited.stdout)
    const heard: string[] = []
    for await (const line of lines) {
      heard.push(line)
      if (!line.startsWith('full')) continue
      execFileSync('prlimit', ['--pid', String(limited.pid), '--fsize=unlimited'])
      limited.stdin.end('there is room\n')
    }
    assert.match(heard[0] ?? '', /^full: the database .*state\.db cannot be used: the disk/)
    assert.deepEqual(heard.slice(1), ['recovered', 'all there'])
  })
})

async function fillAndRecover(directory: string): Promise<void> {
  const ballast = join(directory, 'ballast')
  writeFileSync(ballast, Buffer.alloc(1_500_000, 'b'))
  const storage = await openSqliteStorage({ directory })
  const answered: string[] = []
  try {
    await fillThenFree(storage, ballast, answered)
  } finally {
    await storage.close()
  }
  const again = await openSqliteStorage({ directory })
  const { value } = await again.list(prefixRange('/registry/'))
  assert.deepEqual(value.items.map((item) => item.key).toSorted(), answered.toSorted())
  await again.close()
}

async function fillThenFree(storage: Storage, ballast: string, answered: string[]): Promise<void> {
  const shown: string[] = []
  const stop = new AbortController()
  const following = follow(storage, stop.signal, shown).catch((error) => error)
  const failure = await fill(storage, answered)
  assert.ok(failure instanceof StorageUnavailable, `${failure}`)
  assert.match(failure.message, /state\.db cannot be used: the disk is full/)
  assert.match(storage.trouble() ?? '', /the disk is full/)
  assert.ok((await storage.get(answered[0] ?? '')).value)
  assert.equal((await storage.list(prefixRange('/registry/'))).value.items.length, answered.length)
  // A small write may still fit; that does not end the trouble.
  await storage.compact(await storage.currentRevision()).catch(() => {})
  await sleep(600)
  assert.match(storage.trouble() ?? '', /the disk is full/)

  rmSync(ballast)
  await until('the trouble to end', () => storage.trouble() === undefined)
  won(await storage.put('/registry/later', Buffer.from('x'), { ifRevision: 0 }))
  answered.push('/registry/later')
  await until('the feed to show the last', () => shown.includes('/registry/later'))
  assert.deepEqual(shown.toSorted(), answered.toSorted(), 'the feed shows what was answered')
  stop.abort()
  assert.equal(await following, undefined)
}

async function follow(storage: Storage, signal: AbortSignal, shown: string[]): Promise<void> {
  for await (const batch of storage.changes({ after: await storage.currentRevision(), signal })) {
    shown.push(...batch.map((change) => change.key))
  }
}

async function fill(storage: Storage, answered: string[]): Promise<unknown> {
  for (let i = 0; ; i++) {
    const keys = Array.from({ length: 8 }, (_, j) => `/registry/${i}-${j}`)
    const writes = keys.map((key) => storage.put(key, Buffer.alloc(3000, key), { ifRevision: 0 }))
    const settled = await Promise.allSettled(writes)
    for (const [j, one] of settled.entries()) {
      if (one.status === 'fulfilled') answered.push(keys[j] ?? '')
    }
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed) return failed.reason
  }
}

function size(file: string): number {
  return readFileSync(file).length
}

/** The start of the key index, which a read of every row would not touch. */
function indexAt(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  const row = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'log_by_key'").get()
  database.close()
  return (Number(row?.rootpage) - 1) * pageSizeBytes
}

function flipBit(file: string, near: string): void {
  const whole = readFileSync(file)
  const at = whole.indexOf(near) + 3
  whole[at] = (whole[at] ?? 0) ^ 1
  writeFileSync(file, whole)
}

function makeStranger(file: string): void {
  rmSync(file)
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE anything (a)')
  database.close()
}

function setVersion(file: string, version: number): void {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA user_version = ${version}`)
  database.close()
}

function leaveLogAlone(file: string): void {
  rmSync(file)
  writeFileSync(`${file}-wal`, 'something')
}

/** The files of a directory, except those that only name its user. */
function contents(directory: string): Map<string, Buffer> {
  const names = readdirSync(directory).filter((name) => name.startsWith('state.db'))
  return new Map(names.map((name) => [name, readFileSync(join(directory, name))]))
}
