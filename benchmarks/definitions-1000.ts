/**
 * What a thousand definitions of custom kinds cost. Measured are memory and time of each, how soon
 * one more is live, a list of all of them, and a start with them. Then a custom kind beside a
 * built-in one: processor time per request. Prints one line each; exits with 1 where a bar is
 * missed. Run: node benchmarks/definitions-1000.ts [definitions]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningServer, startServer } from '../test/running-server.ts'
import { asking } from './asking.ts'

const count = Number(process.argv[2] ?? 1000)
const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const requestsPerRound = 2000
const rounds = 5
const missed: string[] = []

const say = (what: string, value: string) => console.log(`${what.padEnd(40)} ${value}`)
function bar(what: string, value: number, unit: string, max: number): void {
  say(what, `${value.toFixed(2)} ${unit} (at most ${max})`)
  if (value > max) missed.push(what)
}
const residentMiB = ({ pid }: RunningServer) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
/**
 * Time that passed, or where others use the machine too, what of it the server's processor time can
 * account for.
 */
async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  const used = client.spentMs()
  await work()
  const passed = performance.now() - began
  const spent = client.spentMs() - used
  if (passed > 2 * spent + 100)
    say('', `${passed.toFixed(0)} ms passed, ${spent.toFixed(0)} of them at work`)
  return passed
}

/** As controllers have them: some tens of fields, a status, columns. */
function definition(i: number): object {
  const plural = `gears${i}`
  const group = `g${i % 50}.example.com`
  const text = { type: 'string', description: 'A sentence that says what this field is for.' }
  const part = { type: 'object', properties: { a: text, b: text, n: { type: 'integer' } } }
  const fields = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field${n}`, part]))
  const properties = {
    spec: { type: 'object', properties: { ...fields, size: { type: 'integer', default: 1 } } },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties } },
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
  }
  return {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind: `Gear${i}` }, versions: [version] },
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-definitions-'))
const flags = ['--storage-backend=sqlite']
let server = await startServer(flags, dataDir)
let client = asking(server)
await client.ask('GET', '/openapi/v2')
const before = residentMiB(server)
const written = await msOf(() =>
  client.times(count, 8, (i) => client.ask('POST', path, definition(i))),
)
say('definitions written', `${count} in ${(written / 1000).toFixed(1)} s`)
await sleep(5000)
bar('memory of a definition', (residentMiB(server) - before) / count, 'MiB', 1)

const objects = (i: number) => `/apis/g${i % 50}.example.com/v1/namespaces/default/gears${i}`
const live = await msOf(async () => {
  await client.ask('POST', path, definition(count))
  while ((await client.ask('GET', objects(count))) !== 200) await sleep(1)
})
bar('one more is live after', live, 'ms', 100)
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
for (const [what, at, headers] of [
  ['table of all definitions', path, table],
  ['groups', '/apis', {}],
  ['resources of a group', '/apis/g1.example.com/v1', {}],
  ['OpenAPI of everything', '/openapi/v2', {}],
] as const) {
  bar(what, await msOf(() => client.ask('GET', at, undefined, headers)), 'ms', 1000)
}
client.close()
await server.stop()
const started = performance.now()
server = await startServer(flags, dataDir)
client = asking(server)
say('', `${client.spentMs()} ms of processor time until it was ready`)
bar('start with all of them', performance.now() - started, 'ms', 1000)
bar('first request of one of them', await msOf(() => client.ask('GET', objects(7))), 'ms', 100)

const gear = (i: number) => ({
  apiVersion: 'g0.example.com/v1',
  kind: 'Gear0',
  metadata: { name: `o${i}` },
  spec: { field1: { a: 'some text', n: i }, field2: { b: 'some text' } },
})
// As large as the other, so that kinds are compared and not sizes.
let padding = 0
const map = (i: number) => ({
  metadata: { name: `o${i}` },
  data: { a: 'some text', b: `some text${' '.repeat(padding)}` },
})
const kinds = [
  ['config map', '/api/v1/namespaces/default/configmaps', map],
  ['custom', objects(0), gear],
] as const
const probe = 1_000_000
const [mapBytes = 0, gearBytes = 0] = await Promise.all(
  kinds.map(async ([, at, make]) => {
    await client.ask('POST', at, make(probe))
    return (await server.ask('GET', `${at}/o${probe}`)).text.length
  }),
)
padding = gearBytes - mapBytes
const spent = new Map<string, number[]>()
for (let round = 0; round <= rounds; round++) {
  for (const [name, at, make] of kinds) {
    const from = round * requestsPerRound
    const work: [string, number, (i: number) => Promise<unknown>][] = [
      ['create', requestsPerRound, (i) => client.ask('POST', at, make(from + i))],
      ['get', requestsPerRound, (i) => client.ask('GET', `${at}/o${from + i}`)],
      ['list', 200, () => client.ask('GET', `${at}?limit=500`)],
    ]
    for (const [verb, times, one] of work) {
      const used = client.spentMs()
      await client.times(times, 16, one)
      // The first round is for the compiler.
      if (round === 0) continue
      const key = `${name} ${verb}`
      spent.set(key, [...(spent.get(key) ?? []), ((client.spentMs() - used) / times) * 1000])
    }
  }
}
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number
for (const verb of ['create', 'get', 'list']) {
  const [builtIn, custom] = kinds.map(([name]) => median(spent.get(`${name} ${verb}`) ?? []))
  say(
    `${verb}: µs of a config map, of a custom kind`,
    `${builtIn?.toFixed(0)}, ${custom?.toFixed(0)}`,
  )
  bar(`${verb}: custom for one of built-in`, (custom as number) / (builtIn as number), '', 1.1)
}
client.close()
await server.stop()
rmSync(dataDir, { recursive: true })
if (missed.length > 0) console.log(`missed: ${missed.join(', ')}`)
process.exitCode = missed.length > 0 ? 1 : 0
