/** Hostile expressions and objects end by cost or by work, in little time and a small heap. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { attacks } from './attacks.fixture.ts'

/** The objects of the attacks are up to 30 MB large. */
const heapMegabytes = 256
/** A third of a second of work, and much for machines that do other things too. */
const attackMsMax = 10_000

const child = join(import.meta.dirname, 'attacks.child.ts')

function run(): Promise<{ code: number | null; output: string; problems: string }> {
  const args = [
    `--max-old-space-size=${heapMegabytes}`,
    '--disable-warning=ExperimentalWarning',
    child,
  ]
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let problems = ''
  started.stdout.on('data', (part) => {
    output += part
  })
  started.stderr.on('data', (part) => {
    problems += part
  })
  return new Promise((done) => started.on('close', (code) => done({ code, output, problems })))
}

test(`${attacks.length} attacks end within a heap of ${heapMegabytes} MB`, async (t) => {
  const { code, output, problems } = await run()
  assert.equal(code, 0, problems)
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(lines.length, attacks.length)
  for (const [at, { name, ends, ms }] of lines.entries())
    await t.test(name, () => {
      assert.equal(ends, attacks[at]?.ends)
      assert.ok(ms < attackMsMax, `${ms} ms`)
    })
})
