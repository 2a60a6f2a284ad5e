/**
 * What it costs to apply one field to an object as the object grows. It is a ConfigMap up to a
 * megabyte, a pod up to two hundred containers. Another is a thousand keys that up to fifty
 * managers have applied, twenty each. Prints the server's processor time per apply, and per part of
 * the object: the last column stays level or falls where the cost is linear. Exits with 1 where the
 * largest costs twice as much per part as one a quarter of its size. Run: node
 * benchmarks/apply-large.ts [applies]
 */
import assert from 'node:assert/strict'
import { startServer } from '../test/running-server.ts'
import { asking } from './asking.ts'

const applies = Number(process.argv[2] ?? 60)
const rounds = 5
const server = await startServer(['--storage-backend=sqlite', '--controllers=-*'])
const client = asking(server)
const space = '/api/v1/namespaces/default'
await client.ask('POST', `${space}/serviceaccounts`, { metadata: { name: 'default' } })

interface Curve {
  readonly what: string
  readonly part: string
  readonly sizes: readonly number[]
  readonly plural: string
  make(size: number): object
  /** What others apply before it is measured, each a part of it. */
  parts?(size: number): object[]
  /** The one field, with a value of its own each time. */
  change(i: number): object
}

const kilobyte = 'x'.repeat(1000)
const key = (i: number) => `key-${String(i).padStart(4, '0')}`
const container = (i: number) => `c-${String(i).padStart(3, '0')}`
const thousand = Array.from({ length: 1000 }, (_, i) => i)
const curves: Curve[] = [
  {
    what: 'ConfigMap',
    part: 'KB',
    sizes: [62, 250, 1000],
    plural: 'configmaps',
    make: (size) => ({
      data: Object.fromEntries(Array.from({ length: size }, (_, i) => [key(i), kilobyte])),
    }),
    change: (i) => ({ data: { [key(7)]: `value ${i}` } }),
  },
  {
    what: 'Pod',
    part: 'containers',
    sizes: [12, 50, 200],
    plural: 'pods',
    make: (size) => ({
      spec: {
        automountServiceAccountToken: false,
        containers: Array.from({ length: size }, (_, i) => ({
          name: container(i),
          image: 'registry.example/app:1',
          env: [{ name: 'A', value: 'b' }],
          ports: [{ containerPort: 1000 + i }],
        })),
      },
    }),
    change: (i) => ({
      spec: { containers: [{ name: container(7), image: `registry.example/app:${i}` }] },
    }),
  },
  {
    what: 'ConfigMap',
    part: 'managers of 1,000 keys',
    sizes: [3, 12, 50],
    plural: 'configmaps',
    make: () => ({ data: Object.fromEntries(thousand.map((i) => [key(i), 'x'])) }),
    parts: (size) =>
      Array.from({ length: size }, (_, manager) => ({
        data: Object.fromEntries(
          thousand.filter((i) => i % size === manager).map((i) => [key(i), 'x']),
        ),
      })),
    change: (i) => ({ data: { [key(7)]: `value ${i}` } }),
  },
]

/** The least of several rounds: what the others have more is not of this work. */
async function microsOf(curve: Curve, size: number): Promise<number> {
  const name = `large-${curve.part.length}-${size}`
  const path = `${space}/${curve.plural}`
  assert.equal(
    await client.ask('POST', path, { metadata: { name }, ...curve.make(size) }),
    201,
    `${curve.what} of ${size}`,
  )
  const header = { apiVersion: 'v1', kind: curve.what, metadata: { name } }
  const applyAs = async (manager: string, part: object) => {
    const type = { 'content-type': 'application/apply-patch+yaml' }
    const query = `fieldManager=${manager}&force=true`
    const body = { ...header, ...part }
    assert.equal(await client.ask('PATCH', `${path}/${name}?${query}`, body, type), 200)
  }
  for (const [i, part] of (curve.parts?.(size) ?? []).entries()) await applyAs(`m${i}`, part)
  let count = 0
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const before = client.spentMs()
    await client.times(applies, 4, () => applyAs('one', curve.change(count++)))
    best = Math.min(best, ((client.spentMs() - before) * 1000) / applies)
  }
  return best
}

let crooked = false
for (const curve of curves) {
  const each: number[] = []
  for (const size of curve.sizes) {
    const micros = await microsOf(curve, size)
    each.push(micros / size)
    const columns = [
      `${curve.what} of ${size} ${curve.part}`.padEnd(36),
      `${micros.toFixed(0)} µs`.padStart(10),
      `${(micros / size).toFixed(1)} µs each`.padStart(16),
    ]
    console.log(columns.join(' '))
  }
  const [quarter = 0, whole = 0] = each.slice(-2)
  if (whole > 2 * quarter) crooked = true
}
client.close()
await server.stop()
process.exitCode = crooked ? 1 : 0
