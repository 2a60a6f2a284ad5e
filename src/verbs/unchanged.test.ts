/** Writes that change nothing are not stored: they cause no new revision and no event. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type Fixture, startVerbs } from './fixture.suite.ts'

let verbs: Fixture
before(async () => {
  verbs = await startVerbs()
})
after(() => verbs.stop())

const template = {
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
}
const spec = { template, selector: { matchLabels: { a: 'b' } } }
const header = { apiVersion: 'apps/v1', kind: 'Deployment' }

/** Writes that leave a deployment unchanged. */
const writes: [what: string, write: (name: string) => Promise<unknown>][] = [
  ['a merge patch', (name) => verbs.patch('deployments', name, 'merge', {})],
  ['a strategic patch', (name) => verbs.patch('deployments', name, 'strategic', {})],
  ['a JSON patch', (name) => verbs.patch('deployments', name, 'json', [])],
  ['an update', async (name) => verbs.update('deployments', await verbs.get('deployments', name))],
  [
    'an update of its status',
    async (name) => verbs.update('deployments', await verbs.get('deployments', name), 'status'),
  ],
]
for (const [what, write] of writes) {
  test(`${what} that changes nothing`, async () => {
    const name = what.replaceAll(' ', '-').toLowerCase()
    const { metadata } = await verbs.create('deployments', { metadata: { name }, spec })
    await write(name)
    const after = await verbs.get('deployments', name)
    assert.equal(after.metadata.resourceVersion, metadata.resourceVersion)
  })
}

test('a repeated apply changes nothing', async () => {
  const apply = () =>
    verbs.patch('deployments', 'applied', 'apply', {
      ...header,
      metadata: { name: 'applied' },
      spec,
    })
  const first = await apply()
  assert.deepEqual(await apply(), first)
})

test('a value of the same length is a change', async () => {
  const { metadata } = await verbs.create('configmaps', {
    metadata: { name: 'c' },
    data: { a: '1' },
  })
  const next = await verbs.patch('configmaps', 'c', 'merge', { data: { a: '2' } })
  assert.notEqual(next.metadata.resourceVersion, metadata.resourceVersion)
})

const odd = { creationTimestamp: '2020-01-02T03:04:05.5Z' }
const even = { creationTimestamp: '2020-01-02T04:04:05+01:00' }
for (const [plural, metadata, raised] of [
  ['deployments', odd, true],
  ['deployments', even, false],
  ['daemonsets', odd, true],
  ['statefulsets', odd, true],
  ['replicasets', odd, true],
] as const) {
  test(`${plural}: a template made at ${metadata.creationTimestamp} is ${raised ? 'never' : ''} the one stored`, async () => {
    const own = {
      ...spec,
      template: { ...template, metadata: { ...template.metadata, ...metadata } },
    }
    const name = `at-${metadata.creationTimestamp.length}`
    const object = { metadata: { name }, spec: own }
    await verbs.create(plural, object)
    const { metadata: after } = await verbs.update(plural, object as never)
    assert.equal(after.generation, raised ? 2 : 1)
  })
}
