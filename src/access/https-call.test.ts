import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '#base/until.fixture.ts'
import { caller } from './https-call.ts'

const server = createServer({ keepAliveTimeout: 60_000 }, (_, answer) => answer.end())
before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)))
after(() => {
  server.closeAllConnections()
  server.close()
})
const connections = promisify(server.getConnections.bind(server))

test('a connection is kept for the next call, and closed when none comes', async () => {
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}/`)
  const call = caller({}, 200)
  const ask = { method: 'GET', url, timeoutMs: 5000, answerBytesMax: 1000 } as const
  await call(ask)
  await call(ask)
  assert.equal(await connections(), 1)
  await until('it is closed', async () => (await connections()) === 0)
})
