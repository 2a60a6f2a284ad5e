/**
 * Services through the verbs, by one server alone and by two on one store: what stays allocated
 * after each write.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { field, scalar, structOf } from '#schema/make-type.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { MeasuredStorage } from '#storage/measured.ts'
import { type PutCondition, type Storage, StorageUnavailable } from '#storage/storage.ts'
import { type Fixture, startVerbs } from '#verbs/fixture.suite.ts'
import { overlaid } from '#watchcache/picture.suite.ts'
import { serviceAllocators } from './service-allocator.ts'

const type = structOf('RangeAllocation', [
  field('range', scalar('string'), 2),
  field('data', scalar('bytes'), 3),
])
const ranges = { addressBlocks: ['10.0.0.0/27'], nodePorts: { first: 30000, last: 30009 } }
const address = '10.0.0.9'
const port = 30009

async function startServer(storage: Storage, isShared: boolean): Promise<Fixture> {
  const verbs = await startVerbs(storage)
  const shared = { storage, root: '/registry', type, writesProtobuf: true }
  const allocators = serviceAllocators(
    ranges,
    verbs.server.reader,
    // The lowest free number, so that all writers compete and none gets a number of a test by
    // chance.
    () => 0,
    isShared ? shared : undefined,
  )
  Object.assign(verbs.server, { allocators })
  return verbs
}

const service = (name: string, spec: Loose = {}, metadata: Loose = {}) => ({
  metadata: { name, ...metadata },
  spec: { ports: [{ port: 80, protocol: 'TCP' }], type: 'ClusterIP', ...spec },
})
const wanted = {
  type: 'NodePort',
  clusterIP: address,
  ports: [{ port: 80, protocol: 'TCP', nodePort: port }],
}

const cases: [title: string, act: (verbs: Fixture) => Promise<unknown>, isFree: boolean][] = [
  ['one is made', (verbs) => verbs.create('services', service('a', wanted)), false],
  [
    'one is deleted',
    async (verbs) => {
      await verbs.create('services', service('a', wanted))
      await verbs.remove('services', 'a')
    },
    true,
  ],
  [
    'one waits for its finalizer',
    async (verbs) => {
      await verbs.create('services', service('a', wanted, { finalizers: ['a.io/b'] }))
      await verbs.remove('services', 'a')
    },
    true,
  ],
  [
    'one that waits for its finalizer is written',
    async (verbs) => {
      await verbs.create('services', service('a', wanted, { finalizers: ['a.io/b'] }))
      await verbs.remove('services', 'a')
      await verbs.patch('services', 'a', 'merge', { metadata: { labels: { a: 'b' } } })
    },
    true,
  ],
  [
    'one that waits for its finalizer is given it',
    async (verbs) => {
      const name = { type: 'ExternalName', externalName: 'x.y' }
      await verbs.create('services', service('a', name, { finalizers: ['a.io/b'] }))
      await verbs.remove('services', 'a')
      await verbs.patch('services', 'a', 'merge', { spec: wanted })
    },
    true,
  ],
  [
    'another service has the address of one that waits for its finalizer, which is then deleted',
    async (verbs) => {
      await verbs.create('services', service('a', wanted, { finalizers: ['a.io/b'] }))
      await verbs.remove('services', 'a')
      await verbs.create('services', service('b', wanted))
      await verbs.remove('services', 'a')
      await verbs.patch('services', 'a', 'merge', { metadata: { finalizers: null } })
    },
    false,
  ],
  [
    'another has what one waiting for its finalizer had, and that one becomes a name',
    async (verbs) => {
      await verbs.create('services', service('a', wanted, { finalizers: ['a.io/b'] }))
      await verbs.remove('services', 'a')
      await verbs.create('services', service('b', wanted))
      const spec = { type: 'ExternalName', externalName: 'x.y', clusterIP: null, clusterIPs: null }
      const ports = [{ port: 80, protocol: 'TCP', nodePort: null }]
      await verbs.patch('services', 'a', 'merge', { spec: { ...spec, ports } })
    },
    false,
  ],
  [
    'the deletion of one that has finalizers is tried',
    async (verbs) => {
      await verbs.create('services', service('a', wanted, { finalizers: ['a.io/b'] }))
      await verbs.remove('services', 'a', { dryRun: ['All'] })
    },
    false,
  ],
  [
    'one loses its last finalizer',
    async (verbs) => {
      await verbs.create('services', service('a', wanted, { finalizers: ['a.io/b'] }))
      await verbs.remove('services', 'a')
      await verbs.patch('services', 'a', 'merge', { metadata: { finalizers: null } })
    },
    true,
  ],
  [
    'one becomes a name of another place',
    async (verbs) => {
      await verbs.create('services', service('a', wanted))
      const spec = { type: 'ExternalName', externalName: 'x.y', clusterIP: null, clusterIPs: null }
      const ports = [{ port: 80, protocol: 'TCP', nodePort: null }]
      await verbs.patch('services', 'a', 'merge', { spec: { ...spec, ports } })
    },
    true,
  ],
  [
    'there is one of that name',
    async (verbs) => {
      await verbs.create('services', service('a'))
      await assert.rejects(verbs.create('services', service('a', wanted)), /already exists/)
    },
    true,
  ],
  [
    'it is tried without a trace',
    (verbs) => verbs.create('services', service('a', wanted), { dryRun: true }),
    true,
  ],
]

for (const isShared of [false, true]) {
  describe(isShared ? 'two servers' : 'one server', () => {
    for (const [title, act, isFree] of cases) {
      test(`${title}: ${isFree ? 'free' : 'not free'}`, async () => {
        const storage = createMemoryStorage()
        const one = await startServer(storage, isShared)
        const other = isShared ? await startServer(storage, true) : one
        after(() => Promise.all([one.stop(), isShared && other.server.cache.close()]))
        await act(one)
        const next = other.create('services', service('next', wanted))
        if (isFree) assert.equal((await next).spec.clusterIP, address)
        else await assert.rejects(next, /provided IP is already allocated/)
        const { ports } = (await other.create('services', service('any', { type: 'NodePort' })))
          .spec
        assert.notEqual(ports[0].nodePort, port)
      })
    }
  })
}

test('an allocation of one server is free when another server deletes its service', async () => {
  const storage = createMemoryStorage()
  const [one, other] = [await startServer(storage, true), await startServer(storage, true)]
  for (const { server } of [one, other]) await server.allocators.repair()
  for (let round = 0; round < 3; round++) {
    const made = await one.create('services', service('a', wanted))
    assert.equal(made.spec.clusterIP, address)
    await other.remove('services', 'a')
  }
  for (const { server } of [one, other]) await server.cache.close()
  await storage.close()
})

test('two servers allocate everything, each value once', async () => {
  const storage = createMemoryStorage()
  const servers = [await startServer(storage, true), await startServer(storage, true)]
  const made = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) =>
      (servers[i % 2] as Fixture).create('services', service(`s${i}`)),
    ),
  )
  const had = made.filter((one) => one.status === 'fulfilled')
  assert.equal(new Set(had.map(({ value }) => value.spec.clusterIP)).size, 30)
  assert.equal(had.length, 30)
  for (const { reason } of made.filter((one) => one.status === 'rejected'))
    assert.match(reason.message, /failed to allocate a serviceIP: range is full/)
  for (const { server } of servers) await server.cache.close()
  await storage.close()
})

test('after a write with an unknown outcome, the numbers stay claimed until a repair', async () => {
  const storage = createMemoryStorage()
  let isSilent = false
  class Silent extends MeasuredStorage {
    override put(key: string, bytes: Buffer, condition: PutCondition) {
      if (isSilent && key.includes('/services/')) throw new StorageUnavailable('away')
      return super.put(key, bytes, condition)
    }
  }
  const [one, other] = [
    await startServer(new Silent(storage), true),
    await startServer(storage, true),
  ]
  await other.create('services', service('first'))
  isSilent = true
  await assert.rejects(one.create('services', service('lost', wanted)), /away/)
  isSilent = false
  const again = () => other.create('services', service('next', wanted))
  await assert.rejects(again(), /provided IP is already allocated/)
  for (let round = 0; round < 2; round++) await other.server.allocators.repair()
  await assert.rejects(again(), /provided IP is already allocated/)
  await other.server.allocators.repair()
  assert.equal((await again()).spec.clusterIP, address)
  for (const { server } of [one, other]) await server.cache.close()
  await storage.close()
})

/**
 * Actions of another server between this server's write of a service and the event of that write.
 */
const overtaken: [does: string, act: (other: Fixture) => Promise<unknown>][] = [
  ['deletes it', (other) => other.remove('services', 'a')],
  [
    'makes it a name',
    (other) => {
      const spec = { type: 'ExternalName', externalName: 'x.y', clusterIP: null, clusterIPs: null }
      const ports = [{ port: 80, protocol: 'TCP', nodePort: null }]
      return other.patch('services', 'a', 'merge', { spec: { ...spec, ports } })
    },
  ],
]
for (const [does, act] of overtaken) {
  test(`the old values of a service are free if another server ${does} before its writer continues`, async () => {
    const storage = createMemoryStorage()
    const other = await startServer(storage, true)
    const put: Storage['put'] = async (key, bytes, condition) => {
      const outcome = await storage.put(key, bytes, condition)
      if (key.endsWith('/a')) await act(other)
      return outcome
    }
    const one = await startServer(overlaid(storage, { put }), true)
    for (const { server } of [one, other]) await server.allocators.repair()
    await one.create('services', service('a', wanted))
    for (let round = 0; round < 3; round++) await one.server.allocators.repair()
    assert.equal((await one.create('services', service('b', wanted))).spec.clusterIP, address)
    for (const { server } of [one, other]) await server.cache.close()
    await storage.close()
  })
}

for (const isShared of [false, true]) {
  const who = isShared ? 'two servers' : 'one server'
  test(`the allocations of a service are free if it is deleted during a write that changes nothing: ${who}`, async () => {
    const verbs = await startServer(createMemoryStorage(), isShared)
    await verbs.create('services', service('a', wanted))
    const { admission } = verbs.server
    const validate = async () => {
      Object.assign(verbs.server, { admission })
      await verbs.remove('services', 'a')
    }
    Object.assign(verbs.server, { admission: { mutate: () => {}, validate } })
    await verbs.patch('services', 'a', 'merge', { spec: { type: 'NodePort' } })
    const made = await verbs.create('services', service('b', wanted))
    assert.equal(made.spec.clusterIP, address)
    await verbs.stop()
  })
}

test('services are followed once, even if reading the claims fails repeatedly', async () => {
  const storage = createMemoryStorage()
  let isAway = true
  const get: Storage['get'] = async (key, at) => {
    if (isAway && key.includes('/ranges/')) throw new StorageUnavailable('away')
    return storage.get(key, at)
  }
  const verbs = await startServer(overlaid(storage, { get }), true)
  for (let round = 0; round < 3; round++)
    await assert.rejects(verbs.create('services', service('a', wanted)), /away/)
  isAway = false
  await verbs.create('services', service('a', wanted))
  const picture = await verbs.server.cache.of(verbs.target('services').kind.resource)
  assert.equal(picture.fanOut.size, 1)
  await verbs.stop()
})
