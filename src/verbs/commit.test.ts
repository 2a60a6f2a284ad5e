/** A too large object is reported in etcd's words. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type Fixture, startVerbs } from './fixture.suite.ts'

let verbs: Fixture
before(async () => {
  verbs = await startVerbs()
})
after(() => verbs.stop())

const largest = 1_572_864

function deployment(name: string, length: number) {
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i', args: ['x'.repeat(length)] }] },
  }
  return { metadata: { name }, spec: { template, selector: { matchLabels: { a: 'b' } } } }
}

/** The length of a container's argument, and the expected error. */
const rows: readonly [length: number, stated: RegExp | undefined][] = [
  [largest - 2000, undefined],
  [largest, /^etcdserver: request is too large$/],
  [2_000_000, /^etcdserver: request is too large$/],
  [
    2_100_000,
    /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(21\d{5} vs\. 2097152\)$/,
  ],
]
for (const [length, stated] of rows) {
  test(`a text of ${length}`, async () => {
    const made = verbs.create('deployments', deployment(`t${length}`, length))
    if (stated === undefined) await made
    else
      await assert.rejects(made, (error: Any) => error.code === 500 && stated.test(error.message))
  })
}

// biome-ignore lint/suspicious/noExplicitAny: an error of any shape
type Any = any

/** With many names, managedFields are as long as the names. */
const data = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => ['n'.repeat(90) + i, 'a']))
const owners = ({ metadata }: Any) => (metadata.managedFields ?? []).length

test('managedFields are dropped if the object is too large with them', async () => {
  assert.equal(owners(await verbs.create('configmaps', { metadata: { name: 'many' }, data })), 0)
})

test('managedFields are dropped in an update that makes the object too large', async () => {
  const made: Any = await verbs.create('configmaps', { metadata: { name: 'grown' } })
  assert.equal(owners(await verbs.update('configmaps', { ...made, data })), 0)
  await verbs.create('configmaps', { metadata: { name: 'patched' } })
  assert.equal(owners(await verbs.patch('configmaps', 'patched', 'merge', { data })), 0)
})

test('a dry run returns an object that is too large to store', async () => {
  const made: Any = await verbs.create('deployments', deployment('shown', largest), {
    dryRun: true,
  })
  assert.equal(made.spec.template.spec.containers[0].args[0].length, largest)
})

test('an apply of a too large object is rejected', async () => {
  const applied = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'applied' }, data }
  await assert.rejects(verbs.patch('configmaps', 'applied', 'apply', applied), /too large/)
})
