/**
 * Many watchers of a server that is killed again and again in the middle of writes. Each goes on
 * after its last event. In the end all have received the same: every acknowledged write, and
 * nothing that is not there.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdServer, etcdVersion } from '../src/storage/etcd/etcd-server.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const selector = 'watched=yes'
const kills = 3
const watchersOfAShape = 8
const writers = 6
const patienceMs = 60_000

/** The requests of watchers: all of them receive the same changes. */
const shapes = {
  whole: 'application/json',
  metadata: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
}

interface Event {
  type: string
  object: { metadata: { name: string; resourceVersion: string }; code?: number }
}

/** The port is another one after each start. */
type Where = () => { port: number; agent: Agent }

/** Watches until it is stopped; where the connection ends it begins again after what it has. */
class Watcher {
  /** `MODIFIED one@7`, in the order they came. */
  readonly told: string[] = []
  readonly #server: Where
  readonly #accept: string
  #version: string
  #stopped = false
  readonly ended: Promise<void>

  constructor(server: Where, accept: string, version: string) {
    this.#server = server
    this.#accept = accept
    this.#version = version
    this.ended = this.#watch()
  }

  get version(): number {
    return Number(this.#version)
  }

  stop(): void {
    this.#stopped = true
  }

  async #watch(): Promise<void> {
    while (!this.#stopped) {
      await this.#once().catch(() => {})
      await sleep(20)
    }
  }

  #once(): Promise<void> {
    const { port, agent } = this.#server()
    const query = `watch=1&allowWatchBookmarks=true&labelSelector=${selector}&resourceVersion=${this.#version}`
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent, path: `${maps}?${query}` }
      const call = request({ ...options, headers: { accept: this.#accept } }, (response) => {
        let rest = ''
        response.on('data', (chunk) => {
          const lines = (rest + chunk).split('\n')
          rest = lines.pop() as string
          for (const line of lines) this.#take(JSON.parse(line))
          if (this.#stopped) call.destroy()
        })
        response.on('end', resolve)
        response.on('error', reject)
      })
      call.on('error', reject)
      call.end()
    })
  }

  #take({ type, object }: Event): void {
    const { name, resourceVersion } = object.metadata
    if (type !== 'BOOKMARK') this.told.push(`${type} ${name}@${resourceVersion}`)
    if (resourceVersion !== undefined) this.#version = resourceVersion
  }
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + patienceMs; !isSo(); await sleep(10))
    assert.ok(Date.now() < end, `waited in vain: ${what}`)
}

/**
 * Writes until it is stopped; acknowledged writes are kept by name, in the order of the responses.
 */
async function write(
  who: number,
  server: () => RunningServer,
  isOver: () => boolean,
  acknowledged: string[],
): Promise<void> {
  for (let i = 0; !isOver(); i++) {
    const name = `m-${who}-${i % 5}`
    const body = { metadata: { name, labels: { watched: 'yes' } }, data: { i: String(i) } }
    const { ask } = server()
    const isNew = await ask('POST', maps, body).catch(() => undefined)
    if (isNew?.status === 201)
      acknowledged.push(`ADDED ${name}@${isNew.body.metadata.resourceVersion}`)
    if (isNew?.status === 409) {
      const answer = await (i % 3 === 0
        ? ask('DELETE', `${maps}/${name}`)
        : ask('PUT', `${maps}/${name}`, body)
      ).catch(() => undefined)
      if (answer?.status === 200 && i % 3 !== 0)
        acknowledged.push(`MODIFIED ${name}@${answer.body.metadata.resourceVersion}`)
    }
    if (isNew === undefined) await sleep(20)
  }
}

async function killAgainAndAgain(flags: readonly string[], dataDir: string): Promise<void> {
  let server = await startServer(flags, dataDir)
  const pem = (name: string) => readFileSync(join(dataDir, 'pki', name))
  const agent = new Agent({ ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') })
  const { resourceVersion } = (await server.ask('GET', maps)).body.metadata
  const watchers = Object.values(shapes).flatMap((accept) =>
    Array.from(
      { length: watchersOfAShape },
      () => new Watcher(() => ({ port: server.port, agent }), accept, resourceVersion),
    ),
  )
  const acknowledged: string[] = []
  let isOver = false
  const writing = Array.from({ length: writers }, (_, who) =>
    write(
      who,
      () => server,
      () => isOver,
      acknowledged,
    ),
  )
  try {
    for (let kill = 0; kill < kills; kill++) {
      const before = acknowledged.length
      await until('writes go on', () => acknowledged.length >= before + 60)
      await server.stop('SIGKILL')
      server = await startServer(flags, dataDir)
    }
    isOver = true
    await Promise.all(writing)
    const { body: list } = await server.ask('GET', `${maps}?labelSelector=${selector}`)
    const last = await server.ask('POST', maps, {
      metadata: { name: 'last', labels: { watched: 'yes' } },
    })
    const end = Number(last.body.metadata.resourceVersion)
    await until('all are told of the last', () => watchers.every(({ version }) => version >= end))
    const [first, ...others] = watchers.map(({ told }) => told)
    assert.ok(first)
    for (const told of others) assert.deepEqual(told, first)
    const versions = first.map((event) => Number(event.split('@')[1]))
    assert.deepEqual(
      versions,
      [...new Set(versions)].sort((a, b) => a - b),
      'in order, each once',
    )
    const seen = new Set(first)
    assert.deepEqual(
      acknowledged.filter((event) => !seen.has(event)),
      [],
    )
    const there = new Map<string, string>()
    for (const event of first.slice(0, -1)) {
      const [type, name, version] = event.split(/[ @]/) as [string, string, string]
      if (type === 'DELETED') there.delete(name)
      else there.set(name, version)
    }
    const stored = list.items.map(({ metadata }: Event['object']) => [
      metadata.name,
      metadata.resourceVersion,
    ])
    assert.deepEqual([...there].sort(), stored.sort())
  } finally {
    isOver = true
    for (const watcher of watchers) watcher.stop()
    await server.stop('SIGKILL')
    await Promise.all(watchers.map(({ ended }) => ended))
    agent.destroy()
  }
}

for (const backend of ['sqlite', 'etcd3']) {
  const skip =
    backend === 'etcd3' && etcdVersion() === undefined ? 'there is no etcd on PATH' : false
  test(`watchers of a server on ${backend} that is killed miss nothing`, { skip }, async () => {
    const etcd = backend === 'etcd3' ? await EtcdServer.start() : undefined
    const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-killed-'))
    try {
      const flags = etcd === undefined ? [] : [`--etcd-servers=${etcd.endpoint}`]
      await killAgainAndAgain([`--storage-backend=${backend}`, ...flags], dataDir)
    } finally {
      await etcd?.dispose()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
}
