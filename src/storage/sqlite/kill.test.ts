/**
 * kill -9 during concurrent writes, two hundred times: acknowledged writes survive, and no reader
 * saw an uncommitted one. Each process checks the notes of the previous one, on the same state.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const rounds = 200
/** Two states in parallel, one per core: in one the thread commits, in the other it hardly does. */
const concurrentWritesMaxes = [0, 512]
const states = concurrentWritesMaxes.length
/**
 * Half a minute on an idle machine; every round starts a process, and a busy machine needs longer.
 */
const timeout = 900_000
const child = fileURLToPath(new URL('./kill.child.ts', import.meta.url))
/** All processes share one compile cache. */
const cache = mkdtempSync(join(tmpdir(), 'binnacle-kill-cache-'))

describe('kill -9', { concurrency: states }, () => {
  before(() => rehearse())
  after(() => rmSync(cache, { recursive: true }))
  for (const concurrentWritesMax of concurrentWritesMaxes) {
    const name = `after ${concurrentWritesMax} in company a thread: ${rounds / states} times`
    test(name, { timeout }, () => killAgainAndAgain(concurrentWritesMax))
  }
})

/**
 * Some processes live until space in the log is reserved, and are killed just before, meanwhile or
 * just after.
 */
const isLong = (round: number) => round % 10 === 9
const killedAfterMs = (round: number) =>
  isLong(round) ? 430 + ((round * 7) % 15) * 10 : (round * 7) % 20
const logBytesOf = (round: number) => (isLong(round) ? 8 * 1024 * 1024 : 64 * 1024)

function rehearse(): void {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-kill-'))
  const environment = { ...process.env, NODE_COMPILE_CACHE: cache }
  const paths = [directory, join(directory, 'none'), join(directory, 'notes')]
  execFileSync(process.execPath, [child, ...paths, 'rehearsal', '65536', '0'], { env: environment })
  rmSync(directory, { recursive: true })
}

async function killAgainAndAgain(concurrentWritesMax: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-kill-'))
  const notesOf = (round: number) => join(directory, `notes-${round % 2}`)
  let notedBytes = 0
  try {
    for (let round = 0; round <= rounds / states; round++) {
      const paths = [directory, notesOf(round + 1), notesOf(round)]
      const numbers = [round, logBytesOf(round), concurrentWritesMax].map(String)
      await runAndKill([...paths, ...numbers], killedAfterMs(round))
      notedBytes += statSync(notesOf(round)).size
    }
    assert.ok(notedBytes > 100_000, `only ${notedBytes} bytes noted: the writers hardly wrote`)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function runAndKill(commands: string[], afterMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const writer = spawn(process.execPath, [child, ...commands], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
    })
    let complaint = ''
    writer.stderr.on('data', (data) => {
      complaint += data
    })
    writer.stdout.once('data', () => setTimeout(() => writer.kill('SIGKILL'), afterMs))
    writer.on('error', reject)
    writer.on('close', (_code, signal) => {
      if (signal === 'SIGKILL') resolve()
      else reject(new Error(`the writer ended by itself: ${complaint}`))
    })
  })
}
