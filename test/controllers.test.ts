/**
 * Controllers as part of a whole server: there by default, absent on request, and going on after
 * the server died in the middle.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

/** Starts and stops of whole servers on a busy machine take their time. */
const patienceMs = 60_000

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

test('evictions go as far as a disruption budget allows, without other parts of a control plane', async () => {
  const server = await startServer()
  const pods = '/api/v1/namespaces/default/pods'
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
  const addPod = async (name: string) => {
    const made = await server.ask('POST', pods, {
      metadata: { name, labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false },
    })
    assert.equal(made.status, 201, made.text)
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    await server.ask('PUT', `${pods}/${name}/status`, { ...made.body, status })
  }
  const evict = (name: string) =>
    server.ask('POST', `${pods}/${name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name },
    })
  const mayGo = (count: number) => async () =>
    (await server.ask('GET', `${budgets}/web`)).body.status?.disruptionsAllowed === count
  await until('an account for pods', async () => {
    return (await statusOf(server, '/api/v1/namespaces/default/serviceaccounts/default')) === 200
  })
  for (const name of ['a', 'b', 'c']) await addPod(name)
  const spec = { minAvailable: 2, selector: { matchLabels: { app: 'web' } } }
  await server.ask('POST', budgets, { metadata: { name: 'web' }, spec })
  await until('one may go', mayGo(1))
  assert.equal((await evict('a')).status, 201)
  await until('none may go', mayGo(0))
  const refused = await evict('b')
  assert.equal(refused.status, 429, refused.text)
  await addPod('d')
  await until('one may go again', mayGo(1))
  assert.equal((await evict('b')).status, 201)
  await server.stop()
})
