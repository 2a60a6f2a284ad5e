/**
 * What validation rules of custom kinds cost. Processor time per creation of an object with twenty
 * rules, and of one without rules; with `--peer`, the same on a kube-apiserver that runs beside.
 * Then a start with many definitions, with rules and without, and their memory.
 *
 *   node benchmarks/custom-rules.ts [--rounds 5] [--creations 1000] [--definitions 500]
 *     [--peer URL --peer-pid PID --peer-token TOKEN]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startServer } from '../test/running-server.ts'
import { type Asking, asking, spentMs } from './asking.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    creations: { type: 'string', default: '1000' },
    definitions: { type: 'string', default: '500' },
    peer: { type: 'string' },
    'peer-pid': { type: 'string', default: '0' },
    'peer-token': { type: 'string', default: 'admin-token' },
  },
})
const rounds = Number(values.rounds)
const creations = Number(values.creations)
const definitions = Number(values.definitions)
const atOnce = 16
const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Twenty rules of the kinds that projects write. */
const rules = [
  "self.mode in ['fast', 'safe']",
  'self.replicas >= self.minReplicas',
  'self.replicas <= self.maxReplicas',
  'self.minReplicas <= self.maxReplicas',
  "!has(self.schedule) || self.schedule.matches('^[0-9* ]+$')",
  "self.hosts.all(host, host.endsWith('.example.com'))",
  'self.hosts.size() > 0',
  "self.hosts.exists_one(host, host == 'a.example.com')",
  'self.ports.all(port, port.number > 0 && port.number < 65536)',
  "self.ports.exists(port, port.name == 'http')",
  'self.ports.map(port, port.number).size() == self.ports.size()',
  "self.ports.all(port, port.protocol == 'TCP' || port.number != 53)",
  "self.labels.all(key, !key.contains('_'))",
  "'app' in self.labels",
  "has(self.labels.app) && self.labels.app != ''",
  "quantity(self.memory).isLessThan(quantity('2Gi'))",
  "self.mode == 'fast' ? self.replicas > 0 : true",
  "self.name.startsWith('gear-')",
  'self.name.size() < 63',
  "[self.minReplicas, self.replicas, self.maxReplicas].isSorted() || self.mode == 'safe'",
]

const text = { type: 'string', maxLength: 63 }
const number = { type: 'integer' }
const properties = {
  ...{ mode: text, name: text, memory: text, schedule: text },
  ...{ replicas: number, minReplicas: number, maxReplicas: number },
  hosts: { type: 'array', maxItems: 10, items: text },
  labels: { type: 'object', maxProperties: 10, additionalProperties: text },
  ports: {
    type: 'array',
    maxItems: 10,
    items: { type: 'object', properties: { name: text, number, protocol: text } },
  },
}

/** `own`: the number in the names of a kind. */
function definition(own: number, hasRules: boolean): object {
  const group = `rules${own}.benchmark.example.com`
  const validations = { 'x-kubernetes-validations': rules.map((rule) => ({ rule })) }
  const spec = { type: 'object', properties, ...(hasRules && validations) }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  return {
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

const gearsOf = (own: number) => `/apis/rules${own}.benchmark.example.com/v1/gears`
let made = 0
const gear = (own: number) => ({
  apiVersion: `rules${own}.benchmark.example.com/v1`,
  kind: 'Gear',
  metadata: { name: `gear-${++made}` },
  spec: {
    ...{ mode: 'fast', name: 'gear-1', memory: '512Mi', schedule: '5 * * * *' },
    ...{ replicas: 3, minReplicas: 1, maxReplicas: 5 },
    hosts: ['a.example.com', 'b.example.com', 'c.example.com'],
    labels: { app: 'shop', team: 'a', tier: 'web' },
    ports: [
      { name: 'http', number: 80, protocol: 'TCP' },
      { name: 'https', number: 443, protocol: 'TCP' },
    ],
  },
})

type Client = Pick<Asking, 'ask' | 'times' | 'spentMs' | 'close'>

/** A client of a server that runs already. */
function peerClient(url: string, pid: number, token: string): Client {
  const session = http2.connect(url, { rejectUnauthorized: false })
  const ask: Asking['ask'] = (method, at, body) =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': method,
        ':path': at,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      })
      let status = 0
      stream.on('response', (answer) => {
        status = Number(answer[':status'])
      })
      stream.on('error', reject)
      stream.on('end', () => resolve(status))
      stream.resume()
      stream.end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    ask,
    async times(count, workers, one) {
      let next = 0
      const worker = async () => {
        while (next < count) await one(next++)
      }
      await Promise.all(Array.from({ length: workers }, worker))
    },
    spentMs: () => spentMs(pid),
    close: () => session.destroy(),
  }
}

/** Tries of a round: policies of other clients of a shared server may reject it for a while. */
const triesMax = 60

async function round(client: Client, own: number): Promise<number> {
  for (let tries = 1; ; tries++) {
    let rejected = 0
    const spent = client.spentMs()
    await client.times(creations, atOnce, async () => {
      if ((await client.ask('POST', gearsOf(own), gear(own))) !== 201) rejected++
    })
    if (rejected === 0) return ((client.spentMs() - spent) * 1000) / creations
    if (tries === triesMax) throw new Error(`${rejected} creations were rejected`)
    await sleep(1000)
  }
}

const measuredKinds = [
  [1, 'an object without rules'],
  [2, 'an object with twenty rules'],
] as const

/** Defines the kinds. One round of each compiles code and rules, and is not counted. */
async function warmUp(client: Client): Promise<void> {
  for (const [own] of measuredKinds) {
    for (let tries = 1; tries < triesMax; tries++) {
      if ((await client.ask('POST', path, definition(own, own === 2))) === 201) break
      await sleep(1000)
    }
    while ((await client.ask('GET', gearsOf(own))) !== 200) await sleep(100)
    await sleep(1000)
    await round(client, own)
  }
}

/** Microseconds of processor time per creation: the least of the rounds, which take turns. */
async function measure(client: Client): Promise<Record<string, number>> {
  await warmUp(client)
  const found: Record<string, number> = {}
  for (let i = 0; i < rounds; i++)
    for (const [own, what] of measuredKinds)
      found[what] = Math.min(found[what] ?? Number.POSITIVE_INFINITY, await round(client, own))
  for (const [own] of measuredKinds)
    await client.ask('DELETE', `${path}/gears.rules${own}.benchmark.example.com`)
  return found
}

const residentMiB = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Processor time of a start with many definitions, and memory of each of them. */
async function startWith(hasRules: boolean): Promise<[startMs: number, memoryMiB: number]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-rules-'))
  const flags = ['--storage-backend=sqlite', '--controllers=-*']
  try {
    let server = await startServer(flags, dataDir)
    let client = asking(server)
    const before = residentMiB(server.pid)
    await client.times(definitions, 8, (i) => client.ask('POST', path, definition(i, hasRules)))
    await sleep(3000)
    const memory = (residentMiB(server.pid) - before) / definitions
    client.close()
    await server.stop()
    const starts: number[] = []
    for (let i = 0; i < 3; i++) {
      server = await startServer(flags, dataDir)
      client = asking(server)
      starts.push(client.spentMs())
      client.close()
      await server.stop()
    }
    return [Math.min(...starts), memory]
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const say = (what: string, value: string) => console.log(`${what.padEnd(44)} ${value}`)

if (creations > 0) {
  const server = await startServer(['--storage-backend=memory', '--controllers=-*'])
  const ours = asking(server)
  const found = await measure(ours)
  ours.close()
  await server.stop()
  for (const [what, value] of Object.entries(found)) say(what, `${value.toFixed(0)} µs`)
  if (values.peer !== undefined) {
    const peer = peerClient(values.peer, Number(values['peer-pid']), values['peer-token'])
    for (const [what, value] of Object.entries(await measure(peer))) {
      const times = value / (found[what] ?? 1)
      say(`${what}, kube-apiserver`, `${value.toFixed(0)} µs (${times.toFixed(1)} times ours)`)
    }
    peer.close()
  }
}
if (definitions > 0)
  for (const hasRules of [false, true]) {
    const [start, memory] = await startWith(hasRules)
    const what = `${definitions} definitions ${hasRules ? 'with' : 'without'} rules`
    say(what, `start ${start} ms of processor time, ${memory.toFixed(2)} MiB each`)
  }
