/**
 * How large does the write-ahead log of SQLite become? A thousand writes a second for a while, with
 * whole lists, pages at old revisions, watches that catch up from the past, compactions and
 * backups. Then some seconds without any of them. Prints the size of the log and of the database
 * each second. Exits with 1 where the log exceeds twice its limit.
 *
 *   node benchmarks/log-size.ts [--seconds=40] [--rate=1000] [--size=2000] [--keys=5000]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openSqliteStorage } from '#storage/sqlite/sqlite.ts'
import { prefixRange } from '#storage/storage.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '40' },
    rate: { type: 'string', default: '1000' },
    size: { type: 'string', default: '2000' },
    keys: { type: 'string', default: '5000' },
  },
})
const [seconds, rate, size, keys] = [values.seconds, values.rate, values.size, values.keys].map(
  Number,
) as [number, number, number, number]
const mebibyte = 1024 * 1024
const logBytesMax = 32 * mebibyte
/** After the load, the log is expected to shrink within this time. */
const restSeconds = 8
const directory = mkdtempSync(join(tmpdir(), 'log-size-'))
const storage = await openSqliteStorage({ directory })
const revisions: number[] = new Array(keys).fill(0)
const busy: boolean[] = new Array(keys).fill(false)
let written = 0
let isOver = false
const errors = new Map<string, number>()
const failed = ({ name, message }: Error) =>
  errors.set(`${name}: ${message}`, (errors.get(`${name}: ${message}`) ?? 0) + 1)

async function write(index: number): Promise<void> {
  if (busy[index]) return
  busy[index] = true
  const bytes = Buffer.alloc(size, `${written} `)
  try {
    const outcome = await storage.put(`/registry/x/${index}`, bytes, {
      ifRevision: revisions[index] ?? 0,
    })
    if (outcome.ok) revisions[index] = outcome.revision
    written++
  } catch (error) {
    failed(error as Error)
  }
  busy[index] = false
}

async function again(everyMs: number, work: () => Promise<unknown>): Promise<void> {
  while (!isOver) {
    await work().catch(failed)
    await sleep(everyMs)
  }
}

/** Writes evenly over time, whatever else holds up this process. */
async function load(): Promise<void> {
  const began = performance.now()
  for (let sent = 0; !isOver; ) {
    const due = ((performance.now() - began) / 1000) * rate
    for (; sent < due; sent++) void write(Math.floor(Math.random() * keys))
    await sleep(5)
  }
}

async function pageAtOldRevision(): Promise<void> {
  const range = prefixRange('/registry/x/')
  const first = await storage.list(range, { limit: 500 })
  await sleep(500)
  await storage.list(range, { limit: 500, at: first.revision })
}

/** Reads the changes of the last seconds, as a watch does that was disconnected for so long. */
async function catchUp(): Promise<void> {
  const now = await storage.currentRevision()
  const after = Math.max(storage.compactedUpTo(), now - 5 * rate)
  for await (const batch of storage.changes({ after, signal: new AbortController().signal }))
    if ((batch.at(-1)?.revision ?? 0) >= now) return
}

async function backup(): Promise<void> {
  const program = `const { backup } = await import('#storage/sqlite/backup.ts'); await backup(...process.argv.slice(1))`
  const files = [join(directory, 'state.db'), join(directory, 'copy.db')]
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...files], {
    stdio: 'inherit',
    cwd: join(import.meta.dirname, '..'),
  })
  await once(child, 'exit')
}

const sizeOf = (name: string) =>
  statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0
const show = (bytes: number) => (bytes / mebibyte).toFixed(1)

let largest = 0
const work = [
  load(),
  again(200, () => storage.list(prefixRange('/registry/x/'))),
  again(100, pageAtOldRevision),
  again(300, catchUp),
  again(1000, backup),
  again(10_000, async () => storage.compact((await storage.currentRevision()) - 5 * rate)),
]
console.log('| second | writes | log, MiB | database, MiB |\n|---:|---:|---:|---:|')
for (let second = 1; second <= seconds + restSeconds; second++) {
  const before = written
  await sleep(1000)
  if (second === seconds) isOver = true
  const log = sizeOf('state.db-wal')
  largest = Math.max(largest, log)
  console.log(`| ${second} | ${written - before} | ${show(log)} | ${show(sizeOf('state.db'))} |`)
}
await Promise.all(work)
for (const [message, count] of errors) console.log(`${count} × ${message}`)
console.log(`largest log: ${show(largest)} MiB, ${written} writes`)
await storage.close()
rmSync(directory, { recursive: true })
if (largest > logBytesMax) process.exitCode = 1
