import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { notFound } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { Aggregation } from './aggregation.ts'
import { automanagedLabel, discoveryPath } from './api-service.ts'
import { availabilityOf, withCondition } from './availability.ts'
import { combinedData, publishTrust, type PublishedTrust } from './published-trust.ts'
import { nextStep, type RegistrationStep } from './registration.ts'
import { remoteUserHeaders } from './remote-user.ts'
import { serviceResolver } from './service-address.ts'
import { authority } from '#access/certificates.suite.ts'

/** Objects by `<plural>/<name>`. */
function readerOf(
  objects: Record<string, object>,
): ObjectReader & { tell: (object: KubeObject, gone?: boolean) => void } {
  let follower: { changed(object: KubeObject): void; deleted(object: KubeObject): void } | undefined
  return {
    get: async (_group, plural, _namespace, name) =>
      objects[`${plural}/${name}`] as KubeObject | undefined,
    list: async () => [],
    async follow(_group, _plural, given) {
      follower = given
      return () => {}
    },
    tell: (object, gone = false) => (gone ? follower?.deleted(object) : follower?.changed(object)),
  }
}

const apiService = (service: object | undefined, more: object = {}): KubeObject =>
  ({
    metadata: { name: 'v1.a.example.com' },
    spec: {
      group: 'a.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      ...(service && { service }),
      ...more,
    },
  }) as KubeObject

const reference = { namespace: 'ns', name: 's', port: 443 }
const service = (spec: object) => ({ 'services/s': { metadata: { name: 's' }, spec } })
const endpoints = (subsets: object[]) => ({ 'endpoints/s': { metadata: { name: 's' }, subsets } })
const clusterIp = { type: 'ClusterIP', clusterIP: '10.0.0.9', ports: [{ name: 'web', port: 443 }] }
const address = { addresses: [{ ip: '10.1.1.1' }], ports: [{ name: 'web', port: 8443 }] }

// what is there, why discovery fails, reason, message
const conditions: [Record<string, object>, string | undefined, string, string][] = [
  [{}, undefined, 'ServiceNotFound', 'service/s in "ns" is not present'],
  [
    service({ ...clusterIp, ports: [{ port: 80 }] }),
    undefined,
    'ServicePortError',
    'service/s in "ns" is not listening on port 443',
  ],
  [
    service(clusterIp),
    undefined,
    'EndpointsNotFound',
    'cannot find endpoints for service/s in "ns"',
  ],
  [
    { ...service(clusterIp), ...endpoints([]) },
    undefined,
    'MissingEndpoints',
    'endpoints for service/s in "ns" have no addresses with port name "web"',
  ],
  [
    {
      ...service(clusterIp),
      ...endpoints([{ notReadyAddresses: address.addresses, ports: address.ports }]),
    },
    undefined,
    'MissingEndpoints',
    'endpoints for service/s in "ns" have no addresses with port name "web"',
  ],
  [{ ...service(clusterIp), ...endpoints([address]) }, 'why', 'FailedDiscoveryCheck', 'why'],
  [{ ...service(clusterIp), ...endpoints([address]) }, undefined, 'Passed', 'all checks passed'],
  [service({ type: 'ExternalName', externalName: 'x' }), undefined, 'Passed', 'all checks passed'],
]
for (const [objects, problem, reason, message] of conditions) {
  test(`availability: ${reason}`, async () => {
    const found = await availabilityOf(
      apiService(reference),
      readerOf(objects),
      async () => problem,
    )
    assert.deepEqual(
      [found.reason, found.message, found.status],
      [reason, message, reason === 'Passed' ? 'True' : 'False'],
    )
  })
}

test('local group versions are always available', async () => {
  const found = await availabilityOf(apiService(undefined), readerOf({}), async () => 'not asked')
  assert.deepEqual([found.status, found.reason], ['True', 'Local'])
})

test('the transition time of a condition changes only with its status', () => {
  const next = { type: 'Available', status: 'False', reason: 'B', message: 'm' } as const
  const old = {
    conditions: [
      { type: 'Other' },
      { type: 'Available', status: 'False', reason: 'A', message: 'm', lastTransitionTime: 't0' },
    ],
  }
  assert.deepEqual(withCondition(old, next, 't1')?.conditions[1], {
    ...next,
    lastTransitionTime: 't0',
  })
  assert.equal(
    withCondition(old, { ...next, status: 'True' }, 't1')?.conditions[1].lastTransitionTime,
    't1',
  )
  assert.equal(withCondition(old, { ...next, reason: 'A' }, 't1'), undefined)
  assert.equal(withCondition(undefined, next, 't1')?.conditions.length, 1)
})

// spec, by endpoints, place or message
const places: [object | undefined, boolean, string][] = [
  [clusterIp, false, '10.0.0.9:443'],
  [clusterIp, true, '10.1.1.1:8443'],
  [{ ...clusterIp, clusterIP: 'None' }, false, 'cannot route to service with ClusterIP "None"'],
  [{ ...clusterIp, ports: [] }, false, 'no service port 443 found for service "s"'],
  [{ type: 'ExternalName', externalName: 'x.example.com' }, false, 'x.example.com:443'],
  [
    { type: 'ExternalName', externalName: 'x.example.com', ports: [{ port: 443 }] },
    true,
    'unsupported service type "ExternalName"',
  ],
  [undefined, false, 'service "s" not found'],
]
for (const [spec, byEndpoints, expected] of places) {
  test(`a service is called at ${expected}`, async () => {
    const objects = { ...(spec && service(spec)), ...endpoints([address]) }
    const ownPlace = () => ({ host: '127.0.0.1', port: 6443 })
    const resolve = serviceResolver({
      reader: readerOf(objects),
      byEndpoints,
      ownPlace,
      random: () => 0,
    })
    const found = await resolve(reference).then(
      ({ host, port }) => `${host}:${port}`,
      (error: Error) => error.message,
    )
    assert.equal(found, expected)
    assert.deepEqual(
      await resolve({ namespace: 'default', name: 'kubernetes', port: 443 }),
      ownPlace(),
    )
  })
}

const desired = (management: 'onstart' | 'true', priority = 100) => ({
  spec: {
    group: 'a.example.com',
    version: 'v1',
    groupPriorityMinimum: priority,
    versionPriority: 10,
  },
  management,
})
const managed = (label: string | undefined): KubeObject => {
  const object = apiService(undefined)
  if (label !== undefined) object.metadata.labels = { [automanagedLabel]: label }
  return object
}
// desired, current, settled, there at start, step
const steps: [
  ReturnType<typeof desired> | undefined,
  KubeObject | undefined,
  boolean,
  boolean,
  RegistrationStep,
][] = [
  [undefined, undefined, false, false, 'nothing'],
  [desired('onstart'), undefined, false, false, 'create'],
  [desired('onstart'), undefined, true, false, 'nothing'],
  [desired('true'), undefined, true, false, 'create'],
  [desired('true', 5), managed(undefined), false, true, 'nothing'],
  [undefined, managed(undefined), false, true, 'nothing'],
  [desired('onstart', 5), managed('onstart'), false, false, 'nothing'],
  [desired('onstart', 5), managed('onstart'), false, true, 'update'],
  [desired('onstart', 5), managed('onstart'), true, true, 'nothing'],
  [undefined, managed('onstart'), false, true, 'delete'],
  [undefined, managed('onstart'), true, true, 'nothing'],
  [undefined, managed('true'), true, false, 'delete'],
  [desired('true', 5), managed('true'), true, false, 'update'],
  [desired('true'), managed('true'), true, false, 'nothing'],
]
for (const [wanted, current, settled, atStart, step] of steps) {
  const label =
    current === undefined ? 'nothing' : (current.metadata.labels?.[automanagedLabel] ?? 'unmanaged')
  test(`registration: want ${wanted?.management}, have ${label}, settled ${settled}, at start ${atStart}: ${step}`, () => {
    assert.equal(nextStep(wanted, current, settled, atStart), step)
  })
}

test('newer releases also send the uid', () => {
  const user = { name: 'alice', uid: 'ü1', groups: [], extra: {} }
  const sent = { 'x-remote-user': 'alice', 'x-remote-uid': 'Ã¼1' }
  assert.deepEqual({ ...remoteUserHeaders(user, true) }, sent)
  assert.deepEqual(Object.keys(remoteUserHeaders({ ...user, uid: '' }, true)), ['x-remote-user'])
})

test('the user is sent in headers', () => {
  const headers = remoteUserHeaders({
    name: 'alice',
    uid: '1',
    groups: ['a', 'b'],
    extra: { 'example.com/Scope x': ['1', '2'] },
  })
  assert.deepEqual(
    { ...headers },
    {
      'x-remote-user': 'alice',
      'x-remote-group': ['a', 'b'],
      'x-remote-extra-example.com%2fscope%20x': ['1', '2'],
    },
  )
})

test('user headers have one character per UTF-8 byte, in any language', () => {
  const headers = remoteUserHeaders({
    name: 'jürgen',
    uid: '',
    groups: ['開発'],
    extra: { ort: ['Köln'] },
  })
  const sent = Object.values(headers).flat()
  assert.deepEqual(
    sent.map((value) => Buffer.from(value, 'latin1').toString()),
    ['jürgen', '開発', 'Köln'],
  )
})

test('the discovery path of a group version', () => {
  assert.equal(discoveryPath(apiService(undefined)), '/apis/a.example.com/v1')
  assert.equal(
    discoveryPath({ metadata: { name: 'v1.' }, spec: { version: 'v1' } } as unknown as KubeObject),
    '/api/v1',
  )
})

test('group versions are added, ordered and removed', async () => {
  const reader = readerOf({})
  const aggregation = new Aggregation({
    reader,
    resolve: async () => ({ host: 'h', port: 1 }),
    proxyClient: () => ({}),
    isIdentityHeader: () => false,
    stopping: new AbortController().signal,
  })
  await aggregation.follow()
  const remote = apiService(reference)
  reader.tell(remote)
  const target = { prefix: 'apis', group: 'a.example.com', version: 'v1' } as never
  assert.deepEqual(aggregation.remoteFor(target)?.available, false)
  const before = aggregation.generation
  reader.tell({ ...remote, status: { conditions: [{ type: 'Available', status: 'True' }] } })
  assert.equal(aggregation.remoteFor(target)?.available, true)
  assert.equal(aggregation.generation, before)
  assert.ok(aggregation.hasAddress('/apis/a.example.com/v1/x?watch=1'))
  assert.ok(!aggregation.hasAddress('/apis/a.example.com/v2'))
  assert.deepEqual(aggregation.priorityOf('a.example.com', 'v1'), { group: 100, version: 10 })
  reader.tell(apiService(reference, { versionPriority: 11 }))
  assert.equal(aggregation.generation, before + 1)
  reader.tell(apiService(undefined, { versionPriority: 11 }))
  assert.equal(aggregation.generation, before + 2)
  assert.equal(aggregation.remoteFor(target), undefined)
  reader.tell(remote)
  const local = [{ group: 'apps', version: 'v1' }]
  assert.equal(aggregation.groupVersions(local).length, 2)
  reader.tell(remote, true)
  assert.equal(aggregation.remoteFor(target), undefined)
  const apps = {
    metadata: { name: 'v1.apps', labels: { [automanagedLabel]: 'onstart' } },
    spec: { group: 'apps', version: 'v1' },
  } as unknown as KubeObject
  reader.tell(apps)
  reader.tell(apps, true)
  assert.deepEqual(aggregation.groupVersions(local), [])
})

test('the trust of several servers is combined, without duplicates and expired certificates', async () => {
  const [one, two, old] = await Promise.all([
    authority('one'),
    authority('two'),
    authority('old', { notAfter: new Date(Date.now() - 1000) }),
  ])
  const proxy = {
    authorities: two.pem,
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: undefined,
    groupHeaders: [],
    extraHeadersPrefix: [],
    allowedNames: ['b'],
  }
  const trust = { clientAuthorities: `${one.pem}\n`, proxy, now: () => Date.now() }
  const first = combinedData(
    { 'client-ca-file': `${two.pem}\n${old.pem}`, 'requestheader-allowed-names': '["a"]' },
    trust,
  )
  assert.equal(first['client-ca-file'].match(/BEGIN/g)?.length, 2)
  assert.equal(first['requestheader-allowed-names'], '["a","b"]')
  assert.equal(first['requestheader-group-headers'], '[]')
  assert.deepEqual(combinedData(first, trust), first)
  assert.equal('requestheader-uid-headers' in first, false)
  const none = combinedData(first, { ...trust, proxy: { ...proxy, uidHeaders: [] } })
  assert.equal('requestheader-uid-headers' in none, false)
  const uids = combinedData(first, { ...trust, proxy: { ...proxy, uidHeaders: ['X-Remote-Uid'] } })
  assert.equal(uids['requestheader-uid-headers'], '["X-Remote-Uid"]')
  assert.deepEqual(combinedData({}, { ...trust, clientAuthorities: '', proxy: undefined }), {})
})

test("the trust published to aggregated servers follows this server's own", async () => {
  const [one, two] = [await authority('one'), await authority('two')]
  let kept: KubeObject | undefined
  const keep = async (object: KubeObject) => (kept = object)
  const client = {
    get: async () => {
      if (kept === undefined) throw notFound({ group: '', plural: 'configmaps' }, 'x')
      return kept
    },
    create: (_resource: object, _namespace: string, object: KubeObject) => keep(object),
    update: (_resource: object, object: KubeObject) => keep(object),
  } as unknown as ApiClient
  const told = () => kept?.data?.['client-ca-file'].match(/BEGIN/g)?.length
  let pem: string | undefined = one.pem
  const trust = (): PublishedTrust => {
    if (pem === undefined) throw new Error('gone')
    return { clientAuthorities: pem, proxy: undefined, now: () => Date.now() }
  }
  const reported: unknown[] = []
  mock.timers.enable({ apis: ['setInterval'] })
  const stop = await publishTrust(client, trust, (...problem) => reported.push(problem))
  assert.equal(told(), 1)
  for (const [next, count] of [
    [undefined, 1],
    [two.pem, 2],
  ] as const) {
    pem = next
    mock.timers.tick(60_000)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(told(), count)
  }
  assert.equal(reported.length, 1)
  stop()
  mock.timers.reset()
})
