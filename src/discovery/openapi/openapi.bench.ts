/**
 * The processor time of /openapi/v2 with a thousand custom kinds: the first document in each
 * format, and one after another kind is added: `node src/discovery/openapi/openapi.bench.ts`. A
 * client must not wait more than 50 ms for it.
 */
import { facts, kindsOfRelease } from '#discovery/kinds-of-facts.suite.ts'
import { priorities } from '#discovery/group-order.ts'
import type { Kind } from '#kinds/kind.ts'
import { OpenApiPublisher } from './publisher.ts'
import type { JsonObject } from './source.ts'

const release = 22
const count = 1000

function kindNumber(i: number): Kind {
  const group = `g${i % 50}.example.com`
  const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
  const apiVersion = `${group}/v1`
  const status = { name: 'status', apiVersion, kind: `Gear${i}`, verbs: new Set(['get', 'patch']) }
  return {
    group,
    version: 'v1',
    apiVersion,
    kind: `Gear${i}`,
    listKind: `Gear${i}List`,
    plural: `gears${i}`,
    namespaced: true,
    origin: 'custom',
    formats: new Set(['json', 'yaml']),
    decoding: 'free',
    verbs: new Set(verbs),
    subresources: new Map([['status', status]]),
  } as unknown as Kind
}

function schemaOf(): JsonObject {
  const text = { type: 'string', description: 'A sentence that says what this field is for.' }
  const part = { type: 'object', properties: { a: text, b: text, n: { type: 'integer' } } }
  const names = Array.from({ length: 20 }, (_, n) => `field${n}`)
  const spec = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, part])) }
  return { type: 'object', properties: { spec } }
}

const builtIn = kindsOfRelease(release)
const kinds = [...builtIn, ...Array.from({ length: count }, (_, i) => kindNumber(i))]
const schemas = new Map<Kind, JsonObject>(kinds.slice(builtIn.length).map((k) => [k, schemaOf()]))
const catalog = {
  generation: 1,
  get groupVersions() {
    const all = new Map(
      kinds.map(({ group, version }) => [`${group}/${version}`, { group, version }]),
    )
    return [...all.values()]
  },
  kindsOf: (group: string, version: string) =>
    kinds.filter((kind) => kind.group === group && kind.version === version),
}
const publisher = new OpenApiPublisher({
  facts,
  release,
  priorityOf: priorities(facts, release),
  applies: true,
  servesCbor: false,
  enums: true,
  schemaOf: (kind) => schemas.get(kind),
  catalog,
})

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
let last = cpuMs()
let longest = 0
const meter = setInterval(() => {
  const now = cpuMs()
  longest = Math.max(longest, now - last)
  last = now
}, 1)

async function measure(name: string, make: () => unknown): Promise<void> {
  await new Promise((done) => setTimeout(done, 20))
  longest = 0
  const began = cpuMs()
  const made = (await make()) as { bytes: Buffer }
  const took = cpuMs() - began
  await new Promise((done) => setTimeout(done, 20))
  const megabytes = (made.bytes.length / 2 ** 20).toFixed(1)
  process.stdout.write(
    `${name}: ${took.toFixed(0)} ms, at most ${longest.toFixed(0)} ms at once, ${megabytes} MiB\n`,
  )
}

await measure('JSON, first', () => publisher.v2())
await measure('protobuf, first', () => publisher.v2Protobuf())
for (const name of ['one kind more', 'and one more']) {
  kinds.push(kindNumber(kinds.length))
  schemas.set(kinds.at(-1) as Kind, schemaOf())
  catalog.generation++
  await measure(`JSON, ${name}`, () => publisher.v2())
  await measure(`protobuf, ${name}`, () => publisher.v2Protobuf())
}
clearInterval(meter)
