/** What one start keeps is taken by the next, also where it is loaded late: by a server that has measured its memory. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { startServer } from './running-server.ts'

/** Node tells, for each module of ours and of its own, whether the compiled code of it that is at hand is of use. */
process.env.NODE_DEBUG_NATIVE = 'COMPILE_CACHE,CODE_CACHE'

/** Loaded by the first patch of its type. */
const lateModule = 'src/patch/json-patch.ts'
/** What takes the types out of sources. */
const stripper = 'internal/deps/amaro'
/** A second HTTP client of Node's, a tenth of a second and 16 MB, which looking at `node:http` as a whole would load. */
const unusedClient = 'internal/deps/undici'

interface Life {
  readonly ours: number
  readonly nodes: number
  readonly refused: string[]
  readonly stripped: boolean
  readonly unusedLoaded: boolean
}

/** A server that is asked for something it loads late. */
async function life(): Promise<Life> {
  const server = await startServer([])
  assert.ok(!server.said().includes(lateModule), 'it is not loaded at the start')
  await new Promise((resolve) => setTimeout(resolve, 500))
  const headers = { 'content-type': 'application/json-patch+json' }
  const { status } = await server.ask('PATCH', '/api/v1/namespaces/default', [], headers)
  assert.equal(status, 200)
  await until('the late module to be loaded', () => server.said().includes(lateModule))
  const { said } = await server.stop()
  return {
    ours: said.split(' was accepted').length - 1,
    nodes: said.split(' is accepted').length - 1,
    refused: said.split('\n').filter((line) => /(was|is) rejected/.test(line)),
    stripped: said.includes(stripper),
    unusedLoaded: said.includes(unusedClient),
  }
}

test('what a start has made of its sources is taken by the next, early and late', async () => {
  await life()
  const { ours, nodes, refused, stripped, unusedLoaded } = await life()
  assert.deepEqual(refused, [])
  assert.ok(ours > 100, `${ours} modules of ours`)
  assert.ok(nodes > 50, `${nodes} modules of Node's`)
  assert.ok(!stripped, 'types are taken out again')
  assert.ok(!unusedLoaded, 'a client that nobody uses is loaded')
})

test('every module can be loaded by itself, before any start, and does nothing then', () => {
  const script = resolve(import.meta.dirname, '../bin/load-all.js')
  const { NODE_DEBUG_NATIVE: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    env,
    encoding: 'utf8',
  })
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
})
