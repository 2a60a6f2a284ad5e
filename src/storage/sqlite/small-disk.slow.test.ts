/**
 * A small disk that is full: repeatedly by other programs, with kills in between; by history; by
 * objects. Each test mounts a file system in memory of the size in its title; without permission to
 * mount, the test is skipped with a message.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'
import { won } from '#storage/storage.suite.ts'
import { freeBytes, logBytesFor } from './disk-space.ts'
import { openSqliteStorage } from './sqlite.ts'

const mebibyte = 1024 * 1024
const rounds = 3

class Writers {
  /** The last acknowledged revision of each key. */
  readonly answered = new Map<string, number>()
  puts = 0
  refused = 0
  lastRefusal = ''
  readonly #command: string[]
  #process: ChildProcess | undefined

  constructor(directory: string, valueBytes: number) {
    this.#command = [join(import.meta.dirname, 'small-disk.child.ts'), directory, `${valueBytes}`]
  }

  start(): void {
    const child = spawn(process.execPath, this.#command, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process = child
    createInterface(child.stdout).on('line', (line) => this.#hear(line))
  }

  async kill(): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }

  /** Waits until several consecutive writes succeed again. */
  async recover(): Promise<void> {
    const { puts } = this
    await until('writes to be answered again', () => this.puts > puts + 100)
  }

  #hear(line: string): void {
    const [word, key = '', revision] = line.split(' ')
    if (word === 'put') {
      this.puts++
      this.answered.set(key, Number(revision))
    } else {
      this.refused++
      this.lastRefusal = line
    }
  }
}

function mount(t: { skip(words: string): void }, size: number): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'small-disk-'))
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', directory]
    execFileSync('mount', options, { stdio: 'pipe' })
    return directory
  } catch (error) {
    rmSync(directory, { recursive: true })
    t.skip(`no small file system can be mounted here: ${(error as Error).message.trim()}`)
    return undefined
  }
}

function unmount(directory: string): void {
  execFileSync('umount', ['-l', directory])
  rmSync(directory, { recursive: true })
}

/** Fills the free space repeatedly for a given time. */
async function fill(file: string, ms: number): Promise<void> {
  const descriptor = openSync(file, 'w')
  const chunk = Buffer.alloc(64 * 1024, 'b')
  for (const end = Date.now() + ms; Date.now() < end; await sleep(20)) {
    try {
      for (;;) writeSync(descriptor, chunk)
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
    }
  }
  closeSync(descriptor)
}

/** After a start all acknowledged writes exist, and writes succeed. */
async function checkState(directory: string, answered: ReadonlyMap<string, number>): Promise<void> {
  await using(directory, async (storage) => {
    await until('the store to be well', () => storage.trouble() === undefined)
    const { value } = await storage.list(prefixRange('/registry/'))
    const found = new Map(value.items.map(({ key, revision }) => [key, revision]))
    for (const [key, revision] of answered)
      assert.ok((found.get(key) ?? 0) >= revision, `${key} of ${revision} is lost`)
    won(await storage.put('/registry/after', Buffer.from('x'), { ifRevision: 0 }))
  })
}

async function fullByOthers(directory: string, size: number): Promise<void> {
  const writers = new Writers(directory, 700)
  const ballast = join(directory, 'ballast')
  try {
    writers.start()
    for (let round = 0; round < rounds; round++) {
      await writers.recover()
      await sleep(1000)
      await fill(ballast, 2000)
      if (round > 0) {
        await writers.kill()
        writers.start()
      }
      if (round > 1) await sleep(1000)
      rmSync(ballast)
      await writers.recover()
    }
    const { refused } = writers
    await sleep(1000)
    assert.equal(writers.refused, refused, writers.lastRefusal)
    const log = statSync(join(directory, 'state.db-wal')).size
    assert.ok(log <= 2 * logBytesFor(size), `${log} bytes of log`)
  } finally {
    await writers.kill()
  }
  await checkState(directory, writers.answered)
}

/** Writes until several times the size of the disk was written. */
async function fullByItself(directory: string, size: number): Promise<void> {
  const valueBytes = Math.floor(size / 5000)
  const writers = new Writers(directory, valueBytes)
  let least = size
  const isWritten = () => {
    least = Math.min(least, freeBytes(directory))
    return writers.puts * valueBytes > size * 2
  }
  try {
    writers.start()
    for (const share of [0.4, 1.1, 2]) {
      await until('enough to be written', () => {
        isWritten()
        return writers.puts * valueBytes > size * share
      })
      await writers.kill()
      writers.start()
    }
    await writers.recover()
  } finally {
    await writers.kill()
  }
  assert.equal(writers.refused, 0, writers.lastRefusal)
  assert.ok(least >= logBytesFor(size), `${least} bytes were left`)
  await checkState(directory, writers.answered)
}

/** Writes are rejected while enough space is left for deletions, which free more. */
async function fullOfObjects(directory: string, size: number): Promise<void> {
  const revisions = new Map<string, number>()
  const bytes = Buffer.alloc(Math.floor(size / 10_000), 'x')
  const create = async (storage: Storage, i: number) => {
    const outcome = await storage.put(`/registry/${i}`, bytes, { ifRevision: 0 })
    revisions.set(`/registry/${i}`, won(outcome))
  }
  const fillUp = async (storage: Storage, first: number) => {
    for (let i = first, isFull = false; !isFull; i += 20) {
      const creates = Array.from({ length: 20 }, (_, j) => create(storage, i + j))
      const settled = await Promise.allSettled(creates)
      const failed = settled.find((one) => one.status === 'rejected')
      isFull = failed !== undefined
      if (failed) assert.match(`${failed.reason}`, /the disk is full/)
    }
    assert.match(storage.trouble() ?? '', /the disk is full/)
  }
  await using(directory, async (storage) => {
    await fillUp(storage, 0)
    const share = (revisions.size * bytes.length) / size
    assert.ok(share > 0.4 && share < 0.95, `${share} of the disk`)
    assert.ok(freeBytes(directory) >= logBytesFor(size))
  })
  await using(directory, async (storage) => {
    // A closed log leaves some space.
    await fillUp(storage, 1e6)
    for (const [key, ifRevision] of [...revisions].slice(0, revisions.size / 2))
      won(await storage.delete(key, { ifRevision }))
    await until('the deletions to make room', () => storage.trouble() === undefined)
    await Promise.all(Array.from({ length: 100 }, (_, i) => create(storage, 2e6 + i)))
  })
}

async function using(directory: string, work: (storage: Storage) => Promise<void>): Promise<void> {
  const storage = await openSqliteStorage({ directory })
  try {
    await work(storage)
  } finally {
    await storage.close()
  }
}

test('a start on a disk that is too small warns', async (t) => {
  for (const [size, warning] of [
    [30, /has 3\d MB for the state, and at least 32 MB are needed/],
    [32, undefined],
  ] as const) {
    const directory = mount(t, size)
    if (directory === undefined) return
    const warnings: string[] = []
    try {
      const warn = (words: string) => warnings.push(words)
      await (await openSqliteStorage({ directory, warn })).close()
    } finally {
      unmount(directory)
    }
    assert.equal(warnings.length, warning ? 1 : 0)
    if (warning) assert.match(warnings[0] ?? '', warning)
  }
})

for (const size of [32, 48, 64, 320])
  for (const [what, check] of [
    ['others fill it again and again', fullByOthers],
    ['the history alone fills it', fullByItself],
    ['objects fill it', fullOfObjects],
  ] as const)
    test(`${size} MiB: ${what}`, { timeout: 180_000 }, async (t) => {
      const directory = mount(t, size)
      if (directory === undefined) return
      try {
        await check(directory, size * mebibyte)
      } finally {
        unmount(directory)
      }
    })
