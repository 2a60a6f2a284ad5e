/** What a service is allocated, in releases that allocate before validation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import { serviceAllocators } from './service-allocator.ts'

const kind = {
  resource: { group: '', plural: 'services', behaviour: { allocatesFirst: true } },
} as unknown as Kind

class Writer {
  readonly #allocators
  readonly #release: number
  #names = 0

  constructor(release = 37, addressBlocks = ['10.0.0.0/24', 'fd00::/112']) {
    const nodePorts = { first: 30000, last: 30099 }
    const reader = new MemoryReader()
    this.#allocators = serviceAllocators({ addressBlocks, nodePorts }, reader, () => 0)
    this.#release = release
  }

  /** The spec, or the reason for the rejection. */
  async write(spec: Loose, old?: Loose, dryRun = false): Promise<Loose | string> {
    const name = `s${++this.#names}`
    const made = (given: Loose): KubeObject => ({
      metadata: { name, namespace: 'ns', uid: name },
      spec: { type: 'ClusterIP', ...structuredClone(given) },
    })
    const next = made(spec)
    const now = '2024-05-06T07:08:09Z'
    const context = { release: this.#release, feature: () => true, now, namespace: 'ns', dryRun }
    try {
      const taken = await this.#allocators.reserve(kind, next, old && made(old), context)
      await taken?.keep()
      return next.spec
    } catch (error) {
      if (error instanceof ApiError) return error.message.replace(/^.* is invalid: /, '')
      throw error
    }
  }
}

test('addresses of both families', async () => {
  const spec = (await new Writer().write({ ipFamilyPolicy: 'RequireDualStack' })) as Loose
  assert.deepEqual(spec.clusterIPs, ['10.0.0.17', 'fd00::101'])
  assert.equal(spec.clusterIP, '10.0.0.17')
})

test('low addresses and ports are allocated last', async () => {
  const spec = (await new Writer(37, ['10.0.0.0/29']).write({})) as Loose
  assert.equal(spec.clusterIP, '10.0.0.1')
  const portOf = async (release: number) => {
    const made = await new Writer(release).write({ type: 'NodePort', ports: [{ port: 1 }] })
    return (made as Loose).ports[0].nodePort
  }
  assert.deepEqual([await portOf(27), await portOf(28)], [30000, 30016])
})

test('a dry run shows addresses and ports', async () => {
  const ports = [{ port: 1 }, { port: 2 }]
  const spec = (await new Writer().write({ type: 'NodePort', ports }, undefined, true)) as Loose
  assert.equal(spec.clusterIP, '10.0.0.0')
  assert.deepEqual(
    spec.ports.map(({ nodePort }: Loose) => nodePort),
    [32769, 32770],
  )
})

const outside = (address: string) =>
  `spec.clusterIPs: Invalid value: ["${address}"]: failed to allocate IP ${address}: the provided IP (${address}) is not in the valid range. The range of valid IPs is 10.0.0.0/24`
test('addresses that cannot be allocated', async () => {
  const writer = new Writer()
  const ask = (address: string) => writer.write({ clusterIP: address, clusterIPs: [address] })
  assert.equal(await ask('10.9.0.1'), outside('10.9.0.1'))
  assert.equal(await ask('10.0.0.0'), outside('10.0.0.0'))
  await ask('10.0.0.5')
  assert.match((await ask('10.0.0.5')) as string, /provided IP is already allocated$/)
})

test('a full block', async () => {
  const words = async (release: number) => {
    const writer = new Writer(release, ['10.0.0.0/30'])
    await writer.write({})
    await writer.write({})
    return writer.write({})
  }
  const full = (whom: string) =>
    `Internal error occurred: failed to allocate a serviceIP${whom}: range is full`
  assert.equal(await words(35), full(''))
  assert.equal(await words(36), full(' for Service "s3"'))
})

test('a new service shares node ports between protocols, an updated one does not', async () => {
  const type = 'NodePort'
  const ports = [
    { port: 53, protocol: 'TCP', name: 'a' },
    { port: 53, protocol: 'UDP', name: 'b', nodePort: 30005 },
  ]
  const writer = new Writer()
  const numbers = (spec: Loose | string) => (spec as Loose).ports.map((one: Loose) => one.nodePort)
  const made = (await writer.write({ type, ports })) as Loose
  assert.deepEqual(numbers(made), [30005, 30005])
  const old = { ...made, type: 'ClusterIP', ports: [] }
  const more = ports.map((port) => ({ ...port, nodePort: undefined }))
  assert.deepEqual(numbers(await writer.write({ ...old, type, ports: more }, old)), [30016, 30017])
  const twice = [
    { port: 1, protocol: 'TCP', nodePort: 30007 },
    { port: 2, protocol: 'TCP', nodePort: 30007 },
  ]
  const problem = await writer.write({ ...old, type, ports: twice }, old)
  assert.equal(problem, 'duplicate nodePort: {TCP 30007}')
})

test('an update may omit allocated values', async () => {
  const given = { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'], ipFamilies: ['IPv4'] }
  const old = { ...given, ipFamilyPolicy: 'SingleStack' }
  const writer = new Writer()
  assert.equal(((await writer.write({}, old)) as Loose).clusterIP, '10.0.0.9')
  const upgraded = (await writer.write({ ipFamilyPolicy: 'PreferDualStack' }, old)) as Loose
  assert.deepEqual(upgraded.clusterIPs, ['10.0.0.9', 'fd00::101'])
  const port = { port: 1, nodePort: 30009, name: 'a' }
  const without = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }
  const kept = async (release: number) => {
    const before = { ...old, ...without, ports: [port] }
    const next = await new Writer(release).write(
      { ...without, ports: [{ port: 1, name: 'a' }] },
      before,
    )
    return (next as Loose).ports[0].nodePort
  }
  assert.deepEqual([await kept(29), await kept(30)], [30009, undefined])
})
