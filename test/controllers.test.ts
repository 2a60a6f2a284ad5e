/** Controllers as part of a whole server: there by default, gone when asked, and going on after the server died in the middle. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

/** Starts and stops of whole servers on a busy machine take their time. */
const patienceMs = 30_000

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const statusOf = async (server: RunningServer, path: string) =>
  (await server.ask('GET', path)).status

test('namespaces live and die as in a cluster, and a killed server takes up what it left', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-controllers-'))
  const flags = ['--storage-backend=sqlite']
  try {
    const first = await startServer(flags, directory)
    await first.ask('POST', '/api/v1/namespaces', { metadata: { name: 'a' } })
    const account = '/api/v1/namespaces/a/serviceaccounts/default'
    await until('a token', async () => Boolean((await first.ask('GET', account)).body.secrets))
    await until('the certificates', async () => {
      return (await statusOf(first, '/api/v1/namespaces/a/configmaps/kube-root-ca.crt')) === 200
    })
    const held = { metadata: { name: 'held', finalizers: ['example.com/wait'] } }
    assert.equal((await first.ask('POST', '/api/v1/namespaces/a/configmaps', held)).status, 201)
    await first.ask('DELETE', '/api/v1/namespaces/a')
    await until('it is being emptied', async () => (await statusOf(first, account)) === 404)
    await first.stop('SIGKILL')

    const second = await startServer(flags, directory)
    const path = '/api/v1/namespaces/a/configmaps/held'
    const { body } = await second.ask('GET', path)
    delete body.metadata.finalizers
    await second.ask('PUT', path, body)
    await until('it is gone', async () => (await statusOf(second, '/api/v1/namespaces/a')) === 404)
    await second.stop()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('--controllers=-* runs none', async () => {
  const server = await startServer(['--controllers=-*'])
  await server.ask('POST', '/api/v1/namespaces', { metadata: { name: 'a' } })
  await server.ask('DELETE', '/api/v1/namespaces/a')
  await new Promise((resolve) => setTimeout(resolve, 300))
  const { body } = await server.ask('GET', '/api/v1/namespaces/a')
  assert.equal(body.status.phase, 'Terminating')
  assert.equal((await server.ask('GET', '/api/v1/serviceaccounts')).body.items.length, 0)
  await server.stop()
})
