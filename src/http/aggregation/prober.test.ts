/**
 * When the prober probes, when it repeats, and what it writes: the Available condition of every
 * APIService.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'
import { Prober } from './prober.ts'

const group = 'apiregistration.k8s.io'
let reader: MemoryReader
let prober: Prober
let problem: string | undefined
let looks: string[]
let written: string[]
let reports: string[]
let refuses: Error | undefined

const apiService = (name: string, service?: Loose, more: Loose = {}): KubeObject => ({
  kind: 'APIService',
  apiVersion: `${group}/v1`,
  metadata: { name },
  spec: { group: 'g', version: 'v1', ...(service && { service }) },
  ...more,
})
const service = { namespace: 'ns', name: 's', port: 443 }
const put = (object: KubeObject) => reader.put(group, 'apiservices', object)
const putService = () =>
  reader.put('', 'services', {
    metadata: { namespace: 'ns', name: 's' },
    spec: { type: 'ClusterIP', ports: [{ port: 443 }] },
  })
const putEndpoints = () =>
  reader.put('', 'endpoints', {
    metadata: { namespace: 'ns', name: 's' },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 8443 }] }],
  })
/** Runs due timers, and then all work that follows. */
async function pass(ms: number): Promise<void> {
  for (let i = 0; i < ms; i += Math.max(1, ms / 20)) {
    mock.timers.tick(Math.max(1, ms / 20))
    for (let j = 0; j < 20; j++) await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

beforeEach(async () => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  reader = new MemoryReader()
  problem = undefined
  refuses = undefined
  looks = []
  written = []
  reports = []
  prober = new Prober({
    reader,
    client: {
      async update(_: unknown, object: KubeObject, subresource: string) {
        if (refuses !== undefined) throw refuses
        const [{ status, reason, message, lastTransitionTime }] = object.status.conditions
        written.push(`${object.metadata.name}/${subresource} ${status} ${reason}: ${message}`)
        assert.equal(lastTransitionTime, '2026-01-01T00:00:00Z')
        put({ ...object })
        return object
      },
    } as unknown as ApiClient,
    look: async (object) => {
      looks.push(object.metadata.name ?? '')
      return problem
    },
    now: () => '2026-01-01T00:00:00Z',
    report: (message, error) => reports.push(`${message}: ${(error as Error).message}`),
  })
  await prober.start()
})
afterEach(() => {
  prober.stop()
  mock.timers.reset()
})

test('local APIServices become available with one write', async () => {
  put(apiService('v1.g'))
  await pass(100)
  assert.deepEqual(written, ['v1.g/status True Local: Local APIServices are always available'])
  await pass(40_000)
  assert.equal(written.length, 1)
  assert.deepEqual(looks, [])
})

test('changes of the service, its endpoints and its responses cause a probe', async () => {
  put(apiService('v1.g', service))
  await pass(100)
  putService()
  await pass(100)
  putEndpoints()
  await pass(100)
  reader.remove('', 'endpoints', 'ns', 's')
  await pass(100)
  assert.deepEqual(written, [
    'v1.g/status False ServiceNotFound: service/s in "ns" is not present',
    'v1.g/status False EndpointsNotFound: cannot find endpoints for service/s in "ns"',
    'v1.g/status True Passed: all checks passed',
    'v1.g/status False EndpointsNotFound: cannot find endpoints for service/s in "ns"',
  ])
})

test('local services get no probes', async () => {
  put(apiService('v1.g', service))
  putService()
  putEndpoints()
  await pass(100)
  const before = looks.length
  reader.put('', 'services', { metadata: { namespace: 'other', name: 's' }, spec: {} })
  reader.put('', 'services', { metadata: { namespace: 'ns', name: 'other' }, spec: {} })
  await pass(100)
  assert.equal(looks.length, before)
})

test('an unavailable server is probed with increasing pauses, an available one every 30 seconds', async () => {
  problem = 'away'
  put(apiService('v1.g', service))
  putService()
  putEndpoints()
  await pass(200)
  const soon = looks.length
  assert.ok(soon >= 4, `${soon} looks`)
  await pass(1000)
  const later = looks.length - soon
  assert.ok(later <= 4, `${later} looks in the second after`)
  problem = undefined
  await pass(20_000)
  assert.deepEqual(written, [
    'v1.g/status False FailedDiscoveryCheck: away',
    'v1.g/status True Passed: all checks passed',
  ])
  const settled = looks.length
  await pass(31_000)
  const rechecks = looks.length - settled
  assert.ok(rechecks >= 1 && rechecks <= 2, `${rechecks} looks in half a minute`)
})

test('a removed service is not probed again', async () => {
  problem = 'away'
  put(apiService('v1.g', service))
  putService()
  putEndpoints()
  await pass(100)
  reader.remove(group, 'apiservices', '', 'v1.g')
  await pass(10)
  const before = looks.length
  await pass(60_000)
  assert.equal(looks.length, before)
})

const refusals: [what: string, error: Error, reported: string[]][] = [
  ['gone', new ApiError(404, 'NotFound', 'gone'), []],
  ['changed', new ApiError(409, 'Conflict', 'changed'), []],
  [
    'refused',
    new ApiError(403, 'Forbidden', 'no'),
    ['cannot determine the availability of APIService v1.g: no'],
  ],
]
for (const [what, error, reported] of refusals) {
  test(`a write that finds it ${what}`, async () => {
    refuses = error
    put(apiService('v1.g'))
    await pass(100)
    assert.deepEqual(reports, reported)
    assert.deepEqual(written, [])
  })
}

test('a stopped prober neither probes nor writes', async () => {
  put(apiService('v1.g', service))
  prober.stop()
  putService()
  putEndpoints()
  await pass(40_000)
  assert.deepEqual([looks, written], [[], []])
})
