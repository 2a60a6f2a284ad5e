/**
 * Programs of client-go and controller-runtime: a typed client, an informer over restarts, and
 * elected managers with a reconciler of a custom kind. They are built where `go` and the modules
 * they need are at hand; elsewhere they are left out, and it says so.
 */
import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { freePort, type RunningServer, startServer } from '../running-server.ts'
import { buildGo } from './go-program.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-go-'))
const program = join(folder, 'clients')
const maps = '/api/v1/namespaces/default/configmaps'
const gears = '/apis/go.example.com/v1/namespaces/default/gears'
const merge = { 'content-type': 'application/merge-patch+json' }

/** A client that runs until it is stopped; its output is kept line by line. */
class Client {
  // biome-ignore lint/suspicious/noExplicitAny: what a line says is the test's to know
  readonly lines: any[] = []
  readonly ended: Promise<number | null>
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  complaint = ''

  constructor(server: RunningServer, ...args: string[]) {
    const env = { ...process.env, KUBECONFIG: join(server.dataDir, 'admin.kubeconfig') }
    this.#child = spawn(program, args, { stdio: 'pipe', env })
    let rest = ''
    this.#child.stdout.on('data', (bytes) => {
      const lines = (rest + bytes).split('\n')
      rest = lines.pop() ?? ''
      this.lines.push(...lines.map((line) => JSON.parse(line)))
    })
    this.#child.stderr.on('data', (bytes) => (this.complaint += bytes))
    this.ended = new Promise((resolve) => this.#child.on('close', resolve))
  }

  /** Stops it by a signal; the result is its exit code. */
  leave(): Promise<number | null> {
    this.#child.stdin.end()
    return this.ended
  }
}

const skip = buildGo('.', program) ?? false

describe('Go', { skip }, () => {
  let flags: string[]
  let server: RunningServer
  const dataDir = join(folder, 'state')
  const clients: Client[] = []
  const start = (...args: string[]) => {
    const client = new Client(server, ...args)
    clients.push(client)
    return client
  }
  const restart = async () => {
    await server.stop('SIGKILL')
    server = await startServer(flags, dataDir)
  }
  before(async () => {
    flags = ['--storage-backend=sqlite', `--secure-port=${await freePort()}`]
    server = await startServer(flags, dataDir)
    // Made by a controller, and pods need it.
    const account = '/api/v1/namespaces/default/serviceaccounts/default'
    await until(
      'an account for pods',
      async () => (await server.ask('GET', account)).status === 200,
    )
  })
  after(async () => {
    await Promise.all(clients.map((client) => client.leave()))
    await server.stop()
  })

  test('a typed client, in protobuf', async () => {
    const client = start('objects')
    assert.equal(await client.ended, 0, client.complaint)
    const wanted = { lost: true, taken: true, gone: true, step: 'applied', phase: 'Running' }
    assert.deepEqual(client.lines, [{ ...wanted, pages: [3, 3, 1, 0] }])
  })

  test('an informer has what there is, over restarts', async () => {
    const informer = start('informer')
    const written: Record<string, string> = {}
    const write = async (name: string, value: string) => {
      const body = { metadata: { name, labels: { kept: 'yes' } }, data: { value } }
      const answer =
        name in written
          ? await server.ask('PUT', `${maps}/${name}`, body)
          : await server.ask('POST', maps, body)
      assert.ok(answer.status < 300, answer.text)
      written[name] = value
    }
    const agrees = async (when: string) => {
      await until(`agreement ${when}: ${informer.complaint}`, () => {
        const known = informer.lines.at(-1) ?? {}
        return (
          Object.keys(known).length === Object.keys(written).length &&
          Object.entries(written).every(([name, value]) => known[name] === value)
        )
      })
    }
    for (let round = 0; round < 2; round++) {
      for (const name of ['a', 'b', 'c']) await write(name, `${round}`)
      await server.ask('DELETE', `${maps}/c`)
      delete written.c
      await agrees(`in round ${round}`)
      await restart()
      await write('b', `${round} after`)
      await agrees(`after restart ${round}`)
    }
    assert.equal(await informer.leave(), 0, informer.complaint)
  })

  test('one of two managers leads and reconciles, over a restart and until the other has to', async () => {
    await defineGears(server)
    const managers = { one: start('manager', 'one'), two: start('manager', 'two') }
    const leads = (client: Client) => client.lines.length > 0
    await until('a leader', () => leads(managers.one) || leads(managers.two))
    const [first, second] = leads(managers.one)
      ? [managers.one, managers.two]
      : [managers.two, managers.one]
    const shown = async (teeth: string) => {
      const said = () => `${first.complaint}${second.complaint}`
      await until(`${teeth} teeth ${said()}`, async () => {
        const { body: gear } = await server.ask('GET', `${gears}/g`)
        const { body: map } = await server.ask('GET', `${maps}/g`)
        return gear.status?.teeth === teeth && map.data?.teeth === teeth
      })
    }
    const set = async (teeth: string) => {
      const { status } = await server.ask('PATCH', `${gears}/g`, { spec: { teeth } }, merge)
      assert.equal(status, 200)
    }
    const gear = { apiVersion: 'go.example.com/v1', kind: 'Gear', metadata: { name: 'g' } }
    assert.equal((await server.ask('POST', gears, { ...gear, spec: { teeth: '12' } })).status, 201)
    await shown('12')
    await restart()
    await set('24')
    await shown('24')
    // A deleted object is created again.
    await server.ask('DELETE', `${maps}/g`)
    await shown('24')
    assert.ok(!leads(second))
    assert.equal(await first.leave(), 0, first.complaint)
    await set('36')
    await shown('36')
    assert.ok(leads(second))
    assert.equal((await server.ask('DELETE', `${gears}/g`)).status, 200)
    for (const path of [`${gears}/g`, `${maps}/g`])
      await until(`${path} to go`, async () => (await server.ask('GET', path)).status === 404)
    assert.equal(await second.leave(), 0, second.complaint)
  })
})
after(() => rmSync(folder, { recursive: true, force: true }))

async function defineGears(server: RunningServer): Promise<void> {
  const text = { type: 'object', properties: { teeth: { type: 'string' } } }
  const openAPIV3Schema = { type: 'object', properties: { spec: text, status: text } }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const { status, text: said } = await server.ask('POST', definitions, {
    metadata: { name: 'gears.go.example.com' },
    spec: {
      group: 'go.example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions: [{ ...version, subresources: { status: {} } }],
    },
  })
  assert.equal(status, 201, said)
  await until('gears', async () => (await server.ask('GET', gears)).status === 200)
}
