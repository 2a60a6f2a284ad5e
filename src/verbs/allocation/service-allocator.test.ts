import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { processorClock } from '#base/processor-time.fixture.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { kindOf } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { serviceAllocators } from './service-allocator.ts'

const services = kindOf('v1', 'services')
const allocators = serviceAllocators(
  {
    addressBlocks: ['10.0.0.0/24'] as never,
    nodePorts: { first: 30000, last: 30009 },
  },
  new MemoryReader(),
  () => 0,
)

async function portsOf(dryRun: boolean, ...nodePorts: number[]): Promise<unknown> {
  const ports = nodePorts.map((nodePort, i) => ({ port: 80 + i, protocol: 'TCP', nodePort }))
  const service = { metadata: { name: 's' }, spec: { type: 'NodePort', ports } as Loose }
  const context = {
    release: 22,
    feature: () => false,
    now: '2024-05-06T07:08:09Z',
    namespace: 'ns',
    dryRun,
  }
  try {
    const taken = await allocators.reserve(services, service, undefined, context)
    taken?.releaseMemory()
    return service.spec.ports.map(({ nodePort }: Loose) => nodePort)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return error.message
  }
}

const outside =
  'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 42: provided port is not in the valid range. The range of valid ports is 30000-30009'
const cases: [title: string, dryRun: boolean, asked: number[], got: unknown][] = [
  ['ports of the range are had', false, [30003], [30003]],
  ['others are not', false, [42], outside],
  ['a dry run does not reserve the range', true, [42], [42]],
  ['and shows the one after the highest', true, [30003, 0], [30003, 30004]],
  ['of 32 bits', true, [2147483647, 0], [2147483647, -2147483648]],
]
for (const [title, dryRun, asked, got] of cases) {
  test(title, async () => assert.deepEqual(await portsOf(dryRun, ...asked), got))
}

test('a dry run finds a free port among tens of thousands quickly', async () => {
  const asked = Array.from({ length: 60_000 }, () => 0)
  const spentMs = processorClock()
  const got = (await portsOf(true, 30003, ...asked)) as number[]
  assert.ok(spentMs() < 2000)
  assert.deepEqual([got.length, got.at(-1)], [60_001, 90_003])
})

const address = '10.0.0.10'
/** `10.0.0.0/29` has six addresses, and there are three node ports. */
const ranges = { addressBlocks: ['10.0.0.0/29'], nodePorts: { first: 30000, last: 30002 } }

/** Writes services of one server in order, and updates its watch cache. */
class Writer {
  readonly reader = new MemoryReader()
  readonly allocators
  #uids = 0

  constructor(settings = { ...ranges, addressBlocks: ['10.0.0.0/24'] }, reader = this.reader) {
    this.allocators = serviceAllocators(settings, reader, () => 0)
  }

  /** Undefined `old` means a new service. A rejection is returned as text. */
  async write(spec: Loose, old?: KubeObject, outcome: 'kept' | 'lost' = 'kept') {
    const uid = old?.metadata.uid ?? `${++this.#uids}`
    const next: KubeObject = { metadata: { name: uid, namespace: 'ns', uid }, spec }
    const context = {
      release: 22,
      feature: () => false,
      now: '2024-05-06T07:08:09Z',
      namespace: 'ns',
      dryRun: false,
    }
    try {
      const reserved = await this.allocators.reserve(services, next, old, context)
      if (outcome === 'kept') reserved?.keep()
      else reserved?.releaseMemory()
      return next
    } catch (error) {
      if (error instanceof ApiError) return error.message
      throw error
    }
  }

  async make(spec: Loose): Promise<KubeObject> {
    const made = await this.write(spec)
    assert.ok(typeof made !== 'string', String(made))
    return made
  }

  /** Whether a new service can get the address. */
  async isFree(clusterIP: string): Promise<boolean> {
    return typeof (await this.write({ clusterIP }, undefined, 'lost')) !== 'string'
  }

  async isPortFree(nodePort: number): Promise<boolean> {
    const spec = { type: 'NodePort', ports: [{ port: 1, nodePort }] }
    return typeof (await this.write(spec, undefined, 'lost')) !== 'string'
  }
}

describe('cluster IPs', () => {
  const cases: [title: string, act: (writer: Writer) => unknown, free: boolean][] = [
    ['the address is free', () => {}, true],
    ['the address is used', (w) => w.make({ clusterIP: address }), false],
    ['a write that had it failed', (w) => w.write({ clusterIP: address }, undefined, 'lost'), true],
    [
      'its service is deleted',
      async (w) => w.allocators.release(services, await w.make({ clusterIP: address })),
      true,
    ],
    [
      'its service keeps it',
      async (w) => w.write({ clusterIP: address }, await w.make({ clusterIP: address })),
      false,
    ],
    [
      'its service failed to leave it',
      async (w) => w.write({ type: 'ExternalName' }, await w.make({ clusterIP: address }), 'lost'),
      false,
    ],
    [
      'its service has left it',
      async (w) => w.write({ type: 'ExternalName' }, await w.make({ clusterIP: address })),
      true,
    ],
    ['another server stored it', (w) => w.reader.put('', 'services', stored('x', address)), false],
    [
      'another server deleted it',
      (w) => {
        w.reader.put('', 'services', stored('x', address))
        w.reader.remove('', 'services', 'ns', 'x')
      },
      true,
    ],
  ]
  for (const when of ['before the first write', 'after it']) {
    for (const [title, act, free] of cases) {
      test(`${title}, ${when}: ${free ? 'it may be had' : 'it is refused'}`, async () => {
        const writer = new Writer()
        if (when === 'after it') await writer.make({})
        await act(writer)
        assert.equal(await writer.isFree(address), free)
      })
    }
  }

  test('rejections have the messages of the release', async () => {
    const writer = new Writer()
    await writer.make({ clusterIP: address })
    const words =
      'Service "2" is invalid: spec.clusterIPs: Invalid value: []string{"10.0.0.10"}: failed to allocate IP 10.0.0.10: provided IP is already allocated'
    assert.equal(await writer.write({ clusterIP: address }), words)
    assert.match(
      String(await writer.write({ clusterIP: '10.9.9.9' })),
      /not in the valid range\. The range of valid IPs is 10\.0\.0\.0\/24/,
    )
  })

  test('a stored write is held once, however often it is reported', async () => {
    const writer = new Writer()
    const made = await writer.make({ clusterIP: address })
    writer.reader.put('', 'services', made)
    writer.reader.put('', 'services', { ...made })
    assert.equal(await writer.isFree(address), false)
    writer.allocators.release(services, made)
    assert.equal(await writer.isFree(address), true)
    // The deletion is reported when the address has another holder.
    await writer.make({ clusterIP: address })
    writer.reader.remove('', 'services', 'ns', '1')
    assert.equal(await writer.isFree(address), false)
  })

  test('two stored services with the same address both hold it', async () => {
    const writer = new Writer()
    writer.reader.put('', 'services', stored('x', address))
    writer.reader.put('', 'services', stored('y', address))
    await writer.make({})
    writer.reader.remove('', 'services', 'ns', 'x')
    assert.equal(await writer.isFree(address), false)
    writer.reader.remove('', 'services', 'ns', 'y')
    assert.equal(await writer.isFree(address), true)
  })

  test('a full block is reported, and works again after a release', async () => {
    const writer = new Writer(ranges)
    const made = []
    for (let i = 0; i < 6; i++) made.push(await writer.make({}))
    assert.equal(new Set(made.map(({ spec }) => spec.clusterIP)).size, 6)
    const full = 'Internal error occurred: failed to allocate a serviceIP: range is full'
    assert.equal(await writer.write({}), full)
    assert.equal(await writer.write({}), full)
    writer.allocators.release(services, made[3])
    assert.equal((await writer.make({})).spec.clusterIP, made[3].spec.clusterIP)
  })

  test('headless and ExternalName services get no address', async () => {
    const writer = new Writer(ranges)
    for (let i = 0; i < 9; i++)
      await writer.make(i % 2 ? { clusterIP: 'None' } : { type: 'ExternalName' })
    assert.equal((await writer.make({})).spec.clusterIP, '10.0.0.1')
  })

  test('a store error fails the current write and no later one', async () => {
    const reader = new MemoryReader()
    reader.put('', 'services', stored('x', address))
    const { follow } = reader
    reader.follow = async () => Promise.reject(new Error('away'))
    const writer = new Writer({ ...ranges, addressBlocks: ['10.0.0.0/24'] }, reader)
    await assert.rejects(writer.write({}), /away/)
    reader.follow = follow
    assert.equal(await writer.isFree(address), false)
    assert.equal(await writer.isFree('10.0.0.11'), true)
  })
})

function stored(name: string, clusterIP: string, nodePort = 0): KubeObject {
  const metadata = { name, namespace: 'ns', uid: `uid of ${name}` }
  return { metadata, spec: { clusterIP, ports: [{ port: 1, nodePort }] } }
}

describe('node ports', () => {
  const port = { port: 80, nodePort: 30001 }
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [port] }
  const rows: [title: string, spec: Loose, then: Loose | undefined, free: string][] = [
    ['one requested node port', { type: 'NodePort', ports: [port] }, undefined, '30000 30002'],
    ['one given', { type: 'NodePort', ports: [{ port: 80 }] }, undefined, '30001 30002'],
    ['none of an address within', { ports: [{ port: 80 }] }, undefined, '30000 30001 30002'],
    [
      'none where none is wanted',
      { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] },
      undefined,
      '30000 30001 30002',
    ],
    [
      'one for two protocols of a port',
      {
        type: 'NodePort',
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      },
      undefined,
      '30001 30002',
    ],
    [
      'the one named by the second of them',
      { type: 'NodePort', ports: [{ port: 53 }, { port: 53, nodePort: 30002 }] },
      undefined,
      '30000 30001',
    ],
    ['one for health', local, undefined, '30002'],
    [
      'kept',
      { type: 'NodePort', ports: [port] },
      { type: 'NodePort', ports: [port] },
      '30000 30002',
    ],
    [
      'changed',
      { type: 'NodePort', ports: [port] },
      { type: 'NodePort', ports: [{ port: 80, nodePort: 30002 }] },
      '30000 30001',
    ],
    ['left', { type: 'NodePort', ports: [port] }, { ports: [{ port: 80 }] }, '30000 30001 30002'],
    [
      'that for health left',
      local,
      { ...local, externalTrafficPolicy: 'Cluster', healthCheckNodePort: 30000 },
      '30000 30002',
    ],
    [
      'that for health left with the rest of it',
      local,
      { type: 'ClusterIP', externalTrafficPolicy: 'Local', healthCheckNodePort: 30002 },
      '30000 30001 30002',
    ],
    ['that for health kept', local, { ...local, healthCheckNodePort: 30000 }, '30002'],
  ]
  for (const [title, spec, then, free] of rows) {
    test(`${title}: ${free} are free`, async () => {
      const writer = new Writer()
      const made = await writer.make(structuredClone(spec))
      if (then) assert.equal(typeof (await writer.write(structuredClone(then), made)), 'object')
      const left = []
      for (const one of [30000, 30001, 30002]) if (await writer.isPortFree(one)) left.push(one)
      assert.equal(left.join(' '), free)
    })
  }

  const refused: [title: string, spec: Loose, then: Loose | undefined, words: RegExp][] = [
    [
      'one that is taken',
      { type: 'NodePort', ports: [{ port: 1, nodePort: 30000 }] },
      undefined,
      /spec\.ports\[0\]\.nodePort: Invalid value: 30000: provided port is already allocated/,
    ],
    [
      'one for health that is taken',
      { ...local, healthCheckNodePort: 30000 },
      undefined,
      /Internal error.*failed to allocate requested HealthCheck NodePort 30000: provided port is already/,
    ],
    [
      'a health check port out of range',
      { ...local, healthCheckNodePort: 100 },
      undefined,
      /failed to allocate requested HealthCheck NodePort 100: provided port is not in the valid range\. The range of valid ports is 30000-30002$/,
    ],
    [
      'one for health where none is left',
      { ...local, ports: [{ port: 1 }, { port: 2 }] },
      undefined,
      /failed to allocate a HealthCheck NodePort 0: range is full/,
    ],
    [
      'more than there are',
      { type: 'NodePort', ports: [{ port: 1 }, { port: 2 }, { port: 3 }] },
      undefined,
      /failed to allocate a nodePort: range is full/,
    ],
    [
      'another one for health',
      local,
      { ...local, healthCheckNodePort: 30001 },
      /cannot change healthCheckNodePort on loadBalancer service/,
    ],
  ]
  for (const [title, spec, then, words] of refused) {
    test(`rejected, and nothing is allocated: ${title}`, async () => {
      const writer = new Writer()
      await writer.make({ type: 'NodePort', ports: [{ port: 9, nodePort: 30000 }] })
      const made = then && (await writer.make(structuredClone(spec)))
      assert.match(String(await writer.write(structuredClone(then ?? spec), made)), words)
      if (then) return
      assert.deepEqual(
        [await writer.isPortFree(30001), await writer.isPortFree(30002)],
        [true, true],
      )
    })
  }
})
