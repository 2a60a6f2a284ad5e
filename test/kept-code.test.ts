/** Compiled code that one start keeps is taken by the next, also where it is loaded late: by a server that has measured its memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { startServer } from './running-server.ts'

/** Node tells, for each module, whether what was kept is of use. */
process.env.NODE_DEBUG_NATIVE = 'COMPILE_CACHE'

/** Loaded by the first patch of its type. */
const lateModule = 'src/patch/json-patch.ts'

/** A server that is asked for something it loads late. */
async function life(): Promise<{ taken: number; refused: string[] }> {
  const server = await startServer([])
  assert.ok(!server.said().includes(lateModule), 'it is not loaded at the start')
  await new Promise((resolve) => setTimeout(resolve, 500))
  const headers = { 'content-type': 'application/json-patch+json' }
  const { status } = await server.ask('PATCH', '/api/v1/namespaces/default', [], headers)
  assert.equal(status, 200)
  await until('the late module to be loaded', () => server.said().includes(lateModule))
  const { said } = await server.stop()
  return {
    taken: said.split(' was accepted').length - 1,
    refused: said.split('\n').filter((line) => line.includes('was rejected')),
  }
}

test('what a start has compiled is taken by the next, early and late', async () => {
  await life()
  const { taken, refused } = await life()
  assert.deepEqual(refused, [])
  assert.ok(taken > 100, `${taken} modules`)
})
