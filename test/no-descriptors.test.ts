/**
 * A process that has no file descriptor left, as when more clients come than the system lets it have: who is connected
 * is served on, the metrics say what is wrong, nobody else comes in, and it is well again by itself.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from './running-server.ts'
import { maps } from './specification.fixture.ts'

for (const backend of ['memory', 'sqlite'])
  test(`a server on ${backend} serves on without descriptors`, async (t) => {
    const server = await startServer([`--storage-backend=${backend}`])
    t.after(() => server.stop('SIGKILL'))
    const limit = (count: string) =>
      execFileSync('prlimit', ['--pid', String(server.pid), `--nofile=${count}:`])
    const statusOf = async (method: string, path: string, body?: object) =>
      (await server.ask(method, path, body)).status
    assert.equal(await statusOf('GET', '/readyz'), 200)
    limit('3')
    // Longer than the server pauses between two looks at its memory.
    for (let i = 0; i < 8; i++, await sleep(250)) {
      assert.equal(await statusOf('POST', maps, { metadata: { name: `m${i}` } }), 201)
      assert.equal(await statusOf('GET', `${maps}/m${i}`), 200)
      assert.equal(await statusOf('GET', '/metrics'), 200)
      assert.equal(await statusOf('GET', '/readyz'), 200)
    }
    limit('1024')
    assert.equal(await statusOf('DELETE', `${maps}/m0`), 200)
    const { code, said } = await server.stop()
    assert.equal(code, 0)
    assert.doesNotMatch(said, /EMFILE/)
  })
