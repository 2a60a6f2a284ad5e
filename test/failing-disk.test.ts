/**
 * A disk that takes no writes any more while the server runs, as one does whose file system turned
 * read-only. Writes fail with the reason, and the server reports that it is not ready. Reads and
 * watches go on, and the server recovers by itself. A limit on the size of files acts as the disk:
 * at zero every write to any file fails.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'
import { maps, told, Wire } from './specification.fixture.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-failing-disk-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))
const flags = ['--storage-backend=sqlite', '--controllers=-*']

function limitFiles(server: RunningServer, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`])
}

test('no write succeeds, every read does, and afterwards all is well by itself', async (t) => {
  const server = await startServer(flags, dataDir)
  t.after(() => server.stop('SIGKILL'))
  const on = new Wire(server)
  const isReady = async () => (await on.ask('GET', '/readyz')).status === 200
  const first = await on.map('first')
  const watches = [on.follow(`${maps}?resourceVersion=${first}`)]
  limitFiles(server, '0')
  const refusals: [method: string, path: string, body?: object][] = [
    ['POST', maps, { metadata: { name: 'never' } }],
    ['PUT', `${maps}/first`, { metadata: { name: 'first' }, data: { never: 'written' } }],
    ['DELETE', `${maps}/first`],
  ]
  for (const [method, path, body] of refusals) {
    const refused = await on.expect(503, method, path, body)
    assert.equal(refused.body.reason, 'ServiceUnavailable')
    assert.ok(refused.body.message.includes(join(dataDir, 'state.db')), refused.body.message)
  }
  // The store looks twice a second whether it can write again, and must not think so.
  for (let i = 0; i < 6; i++, await sleep(250)) {
    const { text } = await on.expect(500, 'GET', '/readyz')
    assert.match(text, /^\[-\]etcd failed: reason withheld$/m)
  }
  for (const query of ['', '?resourceVersion=0', `?resourceVersion=${first}`])
    await on.expect(200, 'GET', `${maps}/first${query}`)
  for (const query of ['', `?limit=1&resourceVersion=${first}&resourceVersionMatch=Exact`])
    assert.equal((await on.expect(200, 'GET', maps + query)).body.items.length, 1)
  watches.push(on.follow(`${maps}?resourceVersion=${first}`))

  limitFiles(server, 'unlimited')
  await until('the server to be ready again', isReady)
  await on.map('later')
  for (const { events, leave } of watches) {
    await until('a watch to go on', () => events.length > 0)
    leave()
    assert.deepEqual(told(events), ['ADDED later'])
  }
  const names = async (asked: Wire) =>
    (await asked.expect(200, 'GET', maps)).body.items.map(
      ({ metadata }: { metadata: { name: string } }) => metadata.name,
    )
  assert.deepEqual(await names(on), ['first', 'later'])
  assert.equal((await server.stop()).code, 0)
  const again = await startServer(flags, dataDir)
  assert.deepEqual(await names(new Wire(again)), ['first', 'later'])
  await again.stop()
})
