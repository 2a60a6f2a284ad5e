/** Addresses of services as IPAddress objects, through the verbs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { type Fixture, startVerbs } from '#verbs/fixture.suite.ts'
import { addressApi, forServices } from '#verbs/allocate.ts'
import { localClient } from '#verbs/local-client.ts'
import { serviceAllocators } from './service-allocator.ts'

const ref = (plural: string) => ({ group: 'networking.k8s.io', version: 'v1', plural })
const [addresses, cidrs] = [ref('ipaddresses'), ref('servicecidrs')]
const services = { group: '', version: 'v1', plural: 'services' }
const ranges = { addressBlocks: ['10.0.0.0/29'], nodePorts: { first: 30000, last: 30009 } }
const user = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }

const sources: [release: number, version: string | undefined][] = [
  [26, undefined],
  [31, undefined],
  [32, undefined],
  [33, 'v1'],
  [37, 'v1'],
]
for (const [release, version] of sources) {
  test(`addresses in 1.${release} ${version ? 'are objects' : 'come from ranges'}`, async () => {
    const verbs = await startVerbs(createMemoryStorage(), 100, release)
    const api = addressApi(verbs.server.feature, verbs.server.catalog)
    assert.equal(api?.ipAddresses.version, version)
    await verbs.stop()
  })
}

interface World {
  readonly verbs: Fixture
  readonly client: ReturnType<typeof localClient>
  /** The address, or the reason why there is none. */
  make(name: string, spec?: Loose, dryRun?: boolean): Promise<string>
  /** The addresses with an object, each with the name of its parent. */
  objects(): Promise<string[]>
  at: { nowMs: number }
}

async function inWorld(act: (world: World) => Promise<void>, block = '10.0.0.0/29') {
  const verbs = await startVerbs(createMemoryStorage(), 100, 37)
  const client = localClient(verbs.server, user, 'kube-apiserver')
  const at = { nowMs: Date.now() }
  const writer = { client, resource: addresses, nowMs: () => at.nowMs }
  const { reader } = verbs.server
  const load = () => serviceAllocators(ranges, reader, () => 0, undefined, writer)
  const allocators = forServices(load, true)
  Object.assign(verbs.server, { allocators })
  await client.create(cidrs, '', { metadata: { name: 'kubernetes' }, spec: { cidrs: [block] } })
  const world: World = {
    verbs,
    client,
    at,
    async make(name, spec = {}, dryRun = false) {
      const ports = [{ port: 80, protocol: 'TCP' }]
      const object = { metadata: { name }, spec: { type: 'ClusterIP', ports, ...spec } }
      try {
        const made = (await verbs.create('services', object, { dryRun })) as KubeObject
        return made.spec?.clusterIP ?? ''
      } catch (error) {
        if (error instanceof ApiError) return error.message.replace(/^.*: /s, '')
        throw error
      }
    },
    async objects() {
      const { items } = await client.list(addresses, '')
      return items.map(({ metadata, spec }) => `${metadata.name} ${spec?.parentRef.name}`)
    },
  }
  try {
    await act(world)
  } finally {
    await verbs.stop()
  }
}

const foreign = (name: string) => ({
  metadata: { name },
  spec: { parentRef: { group: 'example.com', resource: 'gateways', name: 'g' } },
})
const second = { metadata: { name: 'more' }, spec: { cidrs: ['10.9.0.0/30'] } }
const taken = 'provided IP is already allocated'
const outside = 'the provided network does not match the current range'

const cases: [title: string, act: (world: World) => Promise<unknown>, objects: string[]][] = [
  ['a service has an object for its address', (w) => w.make('a'), ['10.0.0.1 a']],
  [
    'two services cannot have one address',
    async (w) => {
      await w.make('a', { clusterIP: '10.0.0.5' })
      assert.equal(await w.make('b', { clusterIP: '10.0.0.5' }), taken)
    },
    ['10.0.0.5 a'],
  ],
  [
    'objects of others are passed over',
    async (w) => {
      await w.client.create(addresses, '', foreign('10.0.0.1'))
      assert.equal(await w.make('a', { clusterIP: '10.0.0.1' }), taken)
      assert.equal(await w.make('a'), '10.0.0.2')
    },
    ['10.0.0.1 g', '10.0.0.2 a'],
  ],
  [
    'a service that is not stored leaves no object',
    async (w) => {
      await w.make('a', { clusterIP: '10.0.0.2' })
      assert.match(await w.make('a', { clusterIP: '10.0.0.3' }), /already exists/)
    },
    ['10.0.0.2 a'],
  ],
  [
    'a dry run creates nothing and does not look',
    async (w) => {
      await w.make('a', { clusterIP: '10.0.0.2' })
      assert.equal(await w.make('b', {}, true), '10.0.0.0')
      assert.equal(await w.make('b', { clusterIP: '10.0.0.2' }, true), '10.0.0.2')
    },
    ['10.0.0.2 a'],
  ],
  [
    'a deleted service has no object',
    async (w) => {
      await w.make('a')
      await w.client.delete(services, 'default', 'a')
    },
    [],
  ],
  [
    'a service that waits for its finalizer keeps its address',
    async (w) => {
      await w.make('a')
      const finalizers = ['example.com/wait']
      await w.client.patch(services, 'default', 'a', { metadata: { finalizers } })
      await w.client.delete(services, 'default', 'a')
    },
    ['10.0.0.1 a'],
  ],
  [
    'and has none with its last finalizer removed',
    async (w) => {
      await w.make('a')
      const finalizers = ['example.com/wait']
      await w.client.patch(services, 'default', 'a', { metadata: { finalizers } })
      await w.client.delete(services, 'default', 'a')
      await w.client.patch(services, 'default', 'a', { metadata: { finalizers: null } })
    },
    [],
  ],
  [
    'a service that becomes a name of another place has no object',
    async (w) => {
      await w.make('a')
      const spec = { type: 'ExternalName', externalName: 'x.example.com', clusterIP: '' }
      await w.client.patch(services, 'default', 'a', { spec: { ...spec, clusterIPs: null } })
    },
    [],
  ],
  [
    'a full block is followed by that of another ServiceCIDR',
    async (w) => {
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await w.make(name)
      assert.equal(await w.make('g'), 'range is full')
      await w.client.create(cidrs, '', second)
      assert.equal(await w.make('g'), '10.9.0.1')
      await w.client.deleteCollection(services, 'default')
    },
    [],
  ],
  [
    'only ready ServiceCIDRs give addresses',
    async (w) => {
      const clusterIP = '10.9.0.2'
      assert.equal(await w.make('a', { clusterIP }), outside)
      await w.client.create(cidrs, '', second)
      const conditions = [{ type: 'Ready', status: 'False', reason: 'R', message: 'm' }]
      const lastTransitionTime = '2024-05-06T07:08:09Z'
      const status = { conditions: [{ ...conditions[0], lastTransitionTime }] }
      await w.client.patch(cidrs, '', 'more', { status }, 'status')
      assert.equal(await w.make('a', { clusterIP }), outside)
      await w.client.patch(cidrs, '', 'more', { status: { conditions: null } }, 'status')
      assert.equal(await w.make('a', { clusterIP }), clusterIP)
      assert.equal(await w.make('b', { clusterIP: '10.9.0.3' }), outside)
    },
    ['10.9.0.2 a'],
  ],
  [
    'a repair creates what a client deleted',
    async (w) => {
      await w.make('a')
      await w.client.delete(addresses, '', '10.0.0.1')
      await w.verbs.server.allocators.repair()
    },
    ['10.0.0.1 a'],
  ],
  [
    'a repair takes an address of a service back',
    async (w) => {
      await w.make('a')
      await w.client.delete(addresses, '', '10.0.0.1')
      await w.client.create(addresses, '', foreign('10.0.0.1'))
      await w.verbs.server.allocators.repair()
    },
    ['10.0.0.1 a'],
  ],
  [
    'a repair deletes an old object without a service, and no other',
    async (w) => {
      await w.make('a')
      const labels = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' }
      const { spec } = await w.client.get(addresses, '', '10.0.0.1')
      const parentRef = { ...(spec as Loose).parentRef, name: 'gone' }
      const metadata = { name: '10.0.0.4', labels }
      await w.client.create(addresses, '', { metadata, spec: { parentRef } })
      await w.client.create(addresses, '', foreign('10.0.0.5'))
      await w.verbs.server.allocators.repair()
      assert.equal((await w.objects()).length, 3)
      w.at.nowMs += 120_000
      await w.verbs.server.allocators.repair()
    },
    ['10.0.0.1 a', '10.0.0.5 g'],
  ],
]
for (const [title, act, objects] of cases) {
  test(title, () =>
    inWorld(async (world) => {
      await act(world)
      assert.deepEqual(await world.objects(), objects)
    }),
  )
}

test('the IPAddress of a service and its labels', () =>
  inWorld(async ({ client, make }) => {
    await make('a')
    const { metadata, spec } = await client.get(addresses, '', '10.0.0.1')
    assert.deepEqual(metadata.labels, {
      'ipaddress.kubernetes.io/ip-family': 'IPv4',
      'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
    })
    assert.deepEqual(spec, {
      parentRef: { resource: 'services', namespace: 'default', name: 'a' },
    })
  }))

test('existing services without objects get them before an address is allocated', async () => {
  await inWorld(async ({ verbs, client, make, objects }) => {
    const { reader } = verbs.server
    const without = forServices(() => serviceAllocators(ranges, reader, () => 0))
    const { allocators } = verbs.server
    Object.assign(verbs.server, { allocators: without })
    assert.equal(await make('old'), '10.0.0.1')
    Object.assign(verbs.server, { allocators })
    assert.equal(await make('new'), '10.0.0.2')
    assert.deepEqual(await objects(), ['10.0.0.1 old', '10.0.0.2 new'])
    assert.ok(await client.get(services, 'default', 'old'))
  })
})
