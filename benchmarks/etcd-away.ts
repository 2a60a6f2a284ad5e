/**
 * How many requests fail while etcd is away? The same clients and the same faults at once for this
 * server and, where its program is given, for a kube-apiserver. Each server has an etcd of its own
 * behind a TCP proxy.
 *
 *   node benchmarks/etcd-away.ts [--kube-apiserver=PROGRAM] [--etcd=PROGRAM] [--seconds=30]
 *     [--port=FIRST]
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    'kube-apiserver': { type: 'string' },
    etcd: { type: 'string', default: 'etcd' },
    seconds: { type: 'string', default: '30' },
    port: { type: 'string' },
  },
})
const faultMs = Number(values.seconds) * 1000
const readers = 4
const writers = 4
/** Between two requests of one client: both servers share the machine with two etcds. */
const pauseMs = 10
const directory = mkdtempSync(join(tmpdir(), 'etcd-away-'))
const basePort = Number(values.port ?? 21_000 + Math.floor(Math.random() * 30_000))

interface Received {
  readonly status: number
  readonly text: string
  readonly retryAfter?: string | undefined
}

class Place {
  readonly name: string
  readonly url: string
  readonly #directory: string
  readonly #ports: { server: number; proxy: number; etcd: number; peer: number }
  readonly #sockets = new Set<Socket>()
  #etcd: ChildProcess | undefined
  #server: ChildProcess | undefined
  readonly #proxy = createServer((client) => this.#pass(client))
  readonly agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  /** Of the phase under way: outcomes by their status, reads and writes apart. */
  results = { read: new Map<string, number>(), write: new Map<string, number>() }
  slowestMs = { read: 0, write: 0 }

  constructor(name: string, index: number) {
    this.name = name
    const port = basePort + index * 4
    this.#ports = { server: port, proxy: port + 1, etcd: port + 2, peer: port + 3 }
    this.url = `https://127.0.0.1:${port}`
    this.#directory = join(directory, name)
    mkdirSync(this.#directory)
  }

  async start(command: string[]): Promise<void> {
    this.#proxy.listen(this.#ports.proxy, '127.0.0.1')
    this.startEtcd()
    const key = join(this.#directory, 'sa.key')
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const tokens = join(this.#directory, 'tokens.csv')
    writeFileSync(tokens, 'admin-token,admin,admin,"system:masters"\n')
    const [program = '', ...flags] = command
    this.#server = this.#spawn(program, [
      ...flags,
      `--etcd-servers=http://127.0.0.1:${this.#ports.proxy}`,
      `--secure-port=${this.#ports.server}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${this.#directory}/certs`,
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--token-auth-file=${tokens}`,
      '--authorization-mode=RBAC',
    ])
    for (let i = 0; i < 1800; i++) {
      if ((await this.send('GET', '/readyz').catch(() => undefined))?.status === 200) return
      await sleep(100)
    }
    throw new Error(`${this.name} is not ready; see ${this.#directory}/log`)
  }

  startEtcd(): void {
    const { etcd, peer } = this.#ports
    this.#etcd = this.#spawn(values.etcd, [
      `--data-dir=${this.#directory}/etcd`,
      `--listen-client-urls=http://127.0.0.1:${etcd}`,
      `--advertise-client-urls=http://127.0.0.1:${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      '--log-level=error',
    ])
  }

  signalEtcd(signal: NodeJS.Signals): void {
    this.#etcd?.kill(signal)
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async stop(): Promise<void> {
    for (const child of [this.#server, this.#etcd]) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    this.cut()
    this.#proxy.close()
    this.agent.destroy()
  }

  send(method: string, path: string, body?: unknown): Promise<Received> {
    return new Promise((resolve, reject) => {
      const options = {
        method,
        agent: this.agent,
        headers: {
          authorization: 'Bearer admin-token',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
      }
      const sent = request(`${this.url}${path}`, options, (response) => {
        let text = ''
        response.on('data', (data) => {
          text += data
        })
        response.on('error', reject)
        const retryAfter = response.headers['retry-after']
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, retryAfter }))
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  #spawn(program: string, flags: string[]): ChildProcess {
    const log = openSync(join(this.#directory, 'log'), 'a')
    return spawn(program, flags, { stdio: ['ignore', log, log] })
  }

  #pass(client: Socket): void {
    const etcd = connect(this.#ports.etcd, '127.0.0.1')
    const pair = [client, etcd] as const
    for (const [one, other] of [pair, [etcd, client] as const]) {
      this.#sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
    client.pipe(etcd)
    etcd.pipe(client)
  }
}

let isOver = false

async function counted(
  place: Place,
  kind: 'read' | 'write',
  work: () => Promise<Received>,
): Promise<number> {
  const began = performance.now()
  const answer: Received = await work().catch((error) => ({
    status: 0,
    text: `${error.message}`,
  }))
  const tookMs = performance.now() - began
  place.slowestMs[kind] = Math.max(place.slowestMs[kind], tookMs)
  const isFine = answer.status >= 200 && answer.status < 300
  const key = isFine ? 'fine' : `${answer.status} ${answer.text.slice(0, 160)}`
  const { [kind]: results } = place.results
  results.set(key, (results.get(key) ?? 0) + 1)
  await sleep(pauseMs)
  return answer.status
}

const configMaps = '/api/v1/namespaces/default/configmaps'

async function read(place: Place, lane: number): Promise<void> {
  const path = lane % 2 === 0 ? `${configMaps}/kept` : `${configMaps}?limit=5`
  while (!isOver) await counted(place, 'read', () => place.send('GET', path))
}

/**
 * Creates, changes and deletes one object after another. One that exists already, or is gone, is a
 * failure too.
 */
async function write(place: Place, lane: number): Promise<void> {
  for (let i = 0; !isOver; i++) {
    const metadata = { name: `lane-${lane}-${i}-${Math.floor(Math.random() * 1e9)}` }
    const made = await counted(place, 'write', () =>
      place.send('POST', configMaps, { metadata, data: { i: `${i}` } }),
    )
    if (made !== 201) continue
    await counted(place, 'write', () =>
      place.send('PUT', `${configMaps}/${metadata.name}`, { metadata, data: { i: 'changed' } }),
    )
    await counted(place, 'write', () => place.send('DELETE', `${configMaps}/${metadata.name}`))
  }
}

type Fault = (places: Place[]) => Promise<void>

async function killAgainAndAgain(places: Place[]): Promise<void> {
  for (const end = Date.now() + faultMs; Date.now() < end; ) {
    for (const place of places) place.signalEtcd('SIGKILL')
    await sleep(1000)
    for (const place of places) place.startEtcd()
    await sleep(3000)
  }
}

async function stopForTenSeconds(places: Place[]): Promise<void> {
  for (const place of places) place.signalEtcd('SIGSTOP')
  await sleep(10_000)
  for (const place of places) place.signalEtcd('SIGCONT')
}

async function cutEverySecond(places: Place[]): Promise<void> {
  for (const end = Date.now() + faultMs; Date.now() < end; ) {
    for (const place of places) place.cut()
    await sleep(1000)
  }
}

const faults: [string, Fault][] = [
  ['none, 5 s', () => sleep(5000)],
  [`killed every 4 s, back after 1 s, ${faultMs / 1000} s`, killAgainAndAgain],
  ['stopped for 10 s', stopForTenSeconds],
  [`connections cut every second, ${faultMs / 1000} s`, cutEverySecond],
]

async function phase(name: string, fault: Fault, places: Place[]): Promise<void> {
  isOver = false
  const work: Promise<void>[] = []
  for (const place of places) {
    place.results = { read: new Map(), write: new Map() }
    place.slowestMs = { read: 0, write: 0 }
    for (let lane = 0; lane < readers; lane++) work.push(read(place, lane))
    for (let lane = 0; lane < writers; lane++) work.push(write(place, lane))
  }
  await fault(places)
  await sleep(2000)
  isOver = true
  await Promise.all(work)
  for (const place of places)
    for (const kind of ['read', 'write'] as const) {
      const { [kind]: results } = place.results
      let failed = 0
      for (const [key, count] of results) if (key !== 'fine') failed += count
      const slowest = (place.slowestMs[kind] / 1000).toFixed(1)
      const fine = results.get('fine') ?? 0
      console.log(`| ${name} | ${place.name} | ${kind} | ${fine} | ${failed} | ${slowest} s |`)
      for (const [key, count] of results)
        if (key !== 'fine') console.error(`  ${place.name} ${kind}: ${count} × ${key.trim()}`)
    }
}

/** What clients get that wait no longer than two seconds, while etcd is stopped. */
async function deadlines(places: Place[]): Promise<void> {
  for (const place of places) place.signalEtcd('SIGSTOP')
  const body = { metadata: { name: 'late' } }
  const rows: [string, string, unknown][] = [
    ['GET', `${configMaps}/kept?timeout=2s`, undefined],
    ['GET', `${configMaps}?timeout=2s`, undefined],
    ['GET', `${configMaps}?timeout=2s&resourceVersion=0`, undefined],
    ['GET', `${configMaps}?watch=1&timeoutSeconds=2`, undefined],
    ['POST', `${configMaps}?timeout=2s`, body],
    ['PUT', `${configMaps}/kept?timeout=2s`, { metadata: { name: 'kept' } }],
    ['DELETE', `${configMaps}/kept?timeout=2s`, undefined],
  ]
  for (const [method, path, sent] of rows)
    for (const place of places) {
      const began = performance.now()
      const received: Received = await place
        .send(method, path, sent)
        .catch((error) => ({ status: 0, text: JSON.stringify({ message: error.message }) }))
      const { status, text, retryAfter } = received
      const took = ((performance.now() - began) / 1000).toFixed(1)
      const { reason, message } = JSON.parse(text.split('\n')[0] || '{}')
      const said = [status, reason, message, retryAfter].filter(Boolean).join(', ')
      console.log(`| ${method} ${path} | ${place.name} | ${took} s | ${said} |`)
    }
  for (const place of places) place.signalEtcd('SIGCONT')
}

const own = [process.execPath, join(import.meta.dirname, '../bin/binnacle.js')]
const commands: [string, string[]][] = [
  ['binnacle', [...own, '--storage-backend=etcd3', `--data-dir=${join(directory, 'data')}`]],
]
if (values['kube-apiserver'] !== undefined)
  commands.push([
    'kube-apiserver',
    [values['kube-apiserver'], '--service-cluster-ip-range=10.0.0.0/16'],
  ])
const places: Place[] = []
try {
  for (const [i, [name, command]] of commands.entries()) {
    const place = new Place(name, i)
    places.push(place)
    await place.start(command)
    await place.send('POST', configMaps, { metadata: { name: 'kept' } })
  }
  console.log('| etcd | server | what | done | failed | slowest |\n|---|---|---|---:|---:|---:|')
  if (faultMs > 0) for (const [name, fault] of faults) await phase(name, fault, places)
  console.log('\n| request while etcd is stopped | server | after | answer |\n|---|---|---:|---|')
  await deadlines(places)
} finally {
  for (const place of places) await place.stop()
  rmSync(directory, { recursive: true })
}
