/** Servers inside this process: each has its own state, and a closed one leaves nothing behind. */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { systemClock } from '#base/clock.ts'
import { systemRandom } from '#base/random.ts'
import { createLog } from '#observe/log.ts'
import { parseFlags } from '#settings/flags.ts'
import { createServer, type RunningServer } from './create-server.ts'

const scratch = mkdtempSync(join(tmpdir(), 'binnacle-embedded-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

let directories = 0
function settingsOf(...flags: string[]) {
  const dataDir = `--data-dir=${join(scratch, String(directories++))}`
  const parsed = parseFlags(['--secure-port=0', dataDir, ...flags])
  assert.ok('settings' in parsed, JSON.stringify(parsed))
  return parsed.settings
}

const surroundings = () => {
  const lines: string[] = []
  const log = createLog(0, (line) => lines.push(line), Date.now)
  return { log, clock: systemClock, random: systemRandom, lines }
}

const memory = '--storage-backend=memory'
const configMaps = { group: '', version: 'v1', plural: 'configmaps' }
const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

/** Reads a path over the network, as the administrator. */
function read({ url, certificates: { ca, admin } }: RunningServer, path: string): Promise<string> {
  const agent = new Agent({ ca: ca.certificatePem, cert: admin.certificatePem, key: admin.keyPem })
  return new Promise((resolve, reject) => {
    const call = get(`${url}${path}`, { agent }, (response) => {
      let text = ''
      response.on('data', (bytes) => (text += bytes))
      response.on('end', () => resolve(text))
    })
    call.on('error', reject)
    call.on('close', () => agent.destroy())
  })
}

const resources = () => process.getActiveResourcesInfo().sort()

/** How long closed handles and their timers may take to leave the list on a busy machine. */
const settledMsMax = 10_000

/**
 * What keeps the process alive once closed handles have left the list. Waits for `until`, if
 * specified; otherwise until the list does not change.
 */
async function settledResources(until?: readonly string[]): Promise<string[]> {
  const endAt = performance.now() + settledMsMax
  let steady = 0
  for (let last = ''; performance.now() < endAt; ) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    const now = resources().join()
    steady = now === last ? steady + 1 : 0
    if (until === undefined ? steady >= 5 : now === until.join()) break
    last = now
  }
  return resources()
}

/** Records the timers of the server that are neither cleared nor fired, by where they were made. */
function followTimers() {
  const made = new Map<number, string>()
  const hook = createHook({
    init(id, type) {
      if (type !== 'Timeout') return
      const lines = (new Error().stack ?? '').split('\n')
      const ours = lines.find((line) => line.includes('/src/') && !line.includes('.test.ts'))
      if (ours !== undefined) made.set(id, ours.trim())
    },
    destroy: (id) => void made.delete(id),
  }).enable()
  return {
    /** The timers that remain after a time that suffices for a busy machine. */
    async left(): Promise<string[]> {
      const endAt = performance.now() + 10_000
      while (made.size > 0 && performance.now() < endAt)
        await new Promise((resolve) => setTimeout(resolve, 10))
      hook.disable()
      return [...made.values()]
    },
  }
}

for (const flags of [[memory], []])
  test(`a closed server leaves no timer, also none that lets the process end: ${flags}`, async () => {
    const timers = followTimers()
    const server = await createServer(settingsOf(...flags), surroundings())
    await server.client.create(configMaps, 'default', configMap('a'))
    await read(server, '/api/v1/namespaces/default/configmaps/a')
    await server.close()
    assert.deepEqual(await timers.left(), [])
  })

for (const flags of [[memory], []])
  test(`a closed server leaves no timer, socket or thread: ${flags}`, async () => {
    // The first server loads modules; what Node keeps for them is no part of the comparison.
    await (await createServer(settingsOf(...flags), surroundings())).close()
    const before = await settledResources()
    const server = await createServer(settingsOf(...flags), surroundings())
    await server.client.create(configMaps, 'default', configMap('a'))
    assert.match(await read(server, '/api/v1/namespaces/default/configmaps/a'), /"name":"a"/)
    await server.close()
    assert.deepEqual(await settledResources(before), before)
    await assert.rejects(read(server, '/healthz'), { code: 'ECONNREFUSED' })
    await server.close()
  })

test('servers in one process do not affect each other', async () => {
  const count = 20
  const servers = await Promise.all(
    Array.from({ length: count }, () => createServer(settingsOf(memory), surroundings())),
  )
  try {
    assert.equal(new Set(servers.map(({ url }) => url)).size, count)
    for (const [i, { client }] of servers.entries())
      await client.create(configMaps, 'default', configMap(`of-${i}`))
    for (const [i, server] of servers.entries()) {
      const { items } = JSON.parse(await read(server, '/api/v1/namespaces/default/configmaps'))
      const names = (items as KubeObject[]).map(({ metadata }) => metadata.name)
      assert.deepEqual(
        names.filter((name) => name?.startsWith('of-')),
        [`of-${i}`],
      )
    }
    // What one server signed is worth nothing to another.
    const [first, second] = servers as [RunningServer, RunningServer]
    const mixed = {
      ...second,
      certificates: { ...second.certificates, admin: first.certificates.admin },
    }
    assert.match(await read(mixed, '/api/v1/nodes'), /"code":40[13]/)
    await first.close()
    assert.match(await read(second, '/readyz'), /^ok$/)
  } finally {
    await Promise.all(servers.map((server) => server.close()))
  }
})

test('a start that is aborted, or fails, leaves nothing behind', async () => {
  await (await createServer(settingsOf(memory), surroundings())).close()
  const before = await settledResources()
  const controller = new AbortController()
  const starting = createServer(settingsOf(memory), {
    ...surroundings(),
    signal: controller.signal,
  })
  controller.abort(new Error('no longer wanted'))
  await assert.rejects(starting, { message: 'no longer wanted' })
  const wrong = settingsOf(memory, '--runtime-config=no-such/v1=true')
  await assert.rejects(createServer(wrong, surroundings()), { name: 'CannotStart' })
  assert.deepEqual(await settledResources(before), before)
})

test('the signal closes a running server', async () => {
  const controller = new AbortController()
  const server = await createServer(settingsOf(memory), {
    ...surroundings(),
    signal: controller.signal,
  })
  controller.abort()
  await server.close()
  await assert.rejects(read(server, '/healthz'), { code: 'ECONNREFUSED' })
})

test('each release starts', async () => {
  const started: string[] = []
  for (let minor = 15; minor <= 37; minor++) {
    const release = `1.${minor}`
    const server = await createServer(
      settingsOf(memory, `--emulated-version=${release}`),
      surroundings(),
    )
    started.push(release)
    await server.close()
  }
  assert.equal(started.length, 23)
})
