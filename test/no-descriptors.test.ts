/**
 * A process that has no file descriptor left, as when more clients come than the system allows.
 * Connected clients are served on, the metrics show the problem, new clients are rejected, and the
 * server recovers by itself.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningServer, startServer } from './running-server.ts'
import { maps } from './specification.fixture.ts'

/** Over one connection, as there will be no other: gives the status of each answer. */
function oneConnection(server: RunningServer, t: TestContext) {
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 1,
    ca: pem('ca.crt'),
    cert: pem('admin.crt'),
    key: pem('admin.key'),
  })
  t.after(() => agent.destroy())
  const headers = { 'content-type': 'application/json' }
  return (method: string, path: string, body?: object) =>
    new Promise<number | undefined>((resolve, reject) => {
      const place = { host: '127.0.0.1', port: server.port, agent, method, path, headers }
      const call = request(place, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      call.on('error', reject)
      call.setTimeout(60_000, () => call.destroy(new Error('no answer')))
      call.end(body && JSON.stringify(body))
    })
}

for (const backend of ['memory', 'sqlite'])
  test(`a server on ${backend} serves on without descriptors`, async (t) => {
    const server = await startServer([`--storage-backend=${backend}`])
    t.after(() => server.stop('SIGKILL'))
    const statusOf = oneConnection(server, t)
    const limit = (count: string) =>
      execFileSync('prlimit', ['--pid', String(server.pid), `--nofile=${count}:`])
    const round = async (name: string) => {
      assert.equal(await statusOf('POST', maps, { metadata: { name } }), 201)
      for (const path of [`${maps}/${name}`, '/metrics', '/readyz'])
        assert.equal(await statusOf('GET', path), 200, path)
    }
    await round('before')
    limit('3')
    // Longer than the server pauses between two looks at its memory.
    for (let i = 0; i < 8; i++, await sleep(250)) await round(`without-${i}`)
    limit('1024')
    await round('after')
    const { code, said } = await server.stop()
    assert.equal(code, 0)
    assert.doesNotMatch(said, /EMFILE/)
  })
