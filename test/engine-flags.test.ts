/** Flags of the engine are what they were whenever something is loaded, and what is wanted at all other times. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { cachedDataVersionTag } from 'node:v8'

const own = (name: string) => import(new URL(`../bin/${name}`, import.meta.url).href)
const { beforeLoading, beforeThread, setFlag } = await own('engine-flags.js')
const { compileSoon, soonFlags } = await own('compile-soon.js')

/** The engine's own word for the flags under which compiled code is taken. */
const flags = cachedDataVersionTag
const usual = flags()

test('what a flag is said to be usually it is', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  const said = [...soonFlags, ['heap-growing-percent', 0]]
  for (const [name, value] of said)
    assert.ok(stdout.includes(`default: --${name}=${value}\n`), name)
})

test('flags that are wanted, while modules and threads are loaded and at other times', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  compileSoon()
  const soon = flags()
  assert.notEqual(soon, usual)

  beforeLoading()
  beforeLoading()
  assert.equal(flags(), usual, 'while a module is loaded')
  setFlag('heap-growing-percent', 0, 70)
  assert.equal(flags(), usual, 'a wish that comes meanwhile waits')
  await undefined
  const both = flags()
  assert.ok(both !== usual && both !== soon, 'when it is')

  beforeThread()
  beforeLoading()
  await undefined
  t.mock.timers.tick(499)
  assert.equal(flags(), usual, 'while a thread begins')
  t.mock.timers.tick(1)
  assert.equal(flags(), both, 'when it has')

  setFlag('heap-growing-percent', 0, 0)
  assert.equal(flags(), soon, 'a flag that is as usual again')
})
