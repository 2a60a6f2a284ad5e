import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { kindOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
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
    taken?.giveBack()
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
  ['a dry run does not ask for the range', true, [42], [42]],
  ['and shows the one after the highest', true, [30003, 0], [30003, 30004]],
]
for (const [title, dryRun, asked, got] of cases) {
  test(title, async () => assert.deepEqual(await portsOf(dryRun, ...asked), got))
}
