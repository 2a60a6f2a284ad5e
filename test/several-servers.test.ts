/**
 * Two servers on one etcd: they see each other's writes at once, and live through etcd's absence.
 */
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { EtcdServer, etcdVersion } from '../src/storage/etcd/etcd-server.fixture.ts'
import { openEtcdStorage } from '../src/storage/etcd/etcd.ts'
import { type RunningServer, startServer } from './running-server.ts'

const skip = etcdVersion() === undefined ? 'there is no etcd on PATH' : false
let etcd: EtcdServer
let one: RunningServer
let two: RunningServer

before(async () => {
  if (skip) return
  etcd = await EtcdServer.start()
  const flags = [`--etcd-servers=${etcd.endpoint}`]
  one = await startServer(flags)
  two = await startServer([...flags, '--storage-media-type=application/vnd.kubernetes.protobuf'])
})
after(async () => {
  await Promise.all([one?.stop(), two?.stop()])
  await etcd?.dispose()
})

const maps = '/api/v1/namespaces/default/configmaps'

interface Event {
  type: string
  object: { metadata: { name: string; resourceVersion: string }; data?: Record<string, string> }
}

/** Events of a watch as they come. */
function watch(server: RunningServer, path: string): { events: Event[]; stop(): void } {
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const events: Event[] = []
  const call = request(
    {
      host: '127.0.0.1',
      port: server.port,
      path,
      ca: pem('ca.crt'),
      cert: pem('admin.crt'),
      key: pem('admin.key'),
    },
    (response) => {
      let rest = ''
      response.on('error', () => {})
      response.on('data', (chunk) => {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() as string
        for (const line of lines) events.push(JSON.parse(line))
      })
    },
  )
  call.on('error', () => {})
  call.end()
  return { events, stop: () => call.destroy() }
}

async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  for (const end = Date.now() + timeoutMs; !(await isSo()); ) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('what one writes the other reads and watches, in one order', { skip }, async () => {
  const { body: list } = await two.ask('GET', maps)
  const watching = watch(
    two,
    `${maps}?watch=1&resourceVersion=${list.metadata.resourceVersion}&labelSelector=shared`,
  )
  const versions: string[] = []
  for (let i = 0; i < 20; i++) {
    const [writer, reader] = i % 2 === 0 ? [one, two] : [two, one]
    const made = await writer.ask('POST', maps, {
      metadata: { name: `shared-${i}`, labels: { shared: 'yes' } },
      data: { i: String(i) },
    })
    assert.equal(made.status, 201, made.text)
    versions.push(made.body.metadata.resourceVersion)
    const read = await reader.ask('GET', `${maps}/shared-${i}`)
    assert.equal(read.status, 200, 'at once')
    assert.deepEqual(read.body, made.body)
  }
  const changed = await one.ask('GET', `${maps}/shared-1`)
  const won = await two.ask('PUT', `${maps}/shared-1`, { ...changed.body, data: { i: 'two' } })
  const lost = await one.ask('PUT', `${maps}/shared-1`, { ...changed.body, data: { i: 'one' } })
  assert.deepEqual([won.status, lost.status], [200, 409])
  await one.ask('DELETE', `${maps}/shared-0`)
  await until('all events', () => watching.events.length >= 22)
  watching.stop()
  assert.deepEqual(
    watching.events.slice(0, 20).map(({ object }) => object.metadata.resourceVersion),
    versions,
  )
  assert.deepEqual(
    watching.events.slice(20).map(({ type, object }) => `${type} ${object.metadata.name}`),
    ['MODIFIED shared-1', 'DELETED shared-0'],
  )
})

const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'

/** A namespace gets its account from the leader. */
async function accountComes(server: RunningServer, namespace: string): Promise<void> {
  const made = await server.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  assert.equal(made.status, 201, made.text)
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`
  await until('an account', async () => (await server.ask('GET', account)).status === 200)
}

/** The leader has work, and the others have none. */
const leads = async (server: RunningServer) =>
  /^workqueue_adds_total\{name="serviceaccount"\} [1-9]/m.test(
    (await server.ask('GET', '/metrics')).text,
  )

test('an address or port that one gave out the other does not, until its service is gone', {
  skip,
}, async () => {
  const services = '/api/v1/namespaces/default/services'
  const ports = [{ port: 80, nodePort: 30123 }]
  const service = (name: string, spec: object) => ({ metadata: { name }, spec })
  const held = { type: 'NodePort', clusterIP: '10.0.0.77', ports }
  const make = (server: RunningServer, name: string, spec: object) =>
    server.ask('POST', services, service(name, spec))
  // Both have given out something, so both have looked at what there is.
  for (const server of [one, two]) {
    const { status, text } = await make(server, `before-${server.port}`, { ports: [{ port: 1 }] })
    assert.equal(status, 201, text)
  }
  for (const [first, second] of [
    [one, two],
    [two, one],
  ]) {
    assert.equal((await make(first, 'first', held)).status, 201)
    const sameAddress = await make(second, 'second', {
      ...held,
      type: 'ClusterIP',
      ports: [{ port: 1 }],
    })
    assert.match(sameAddress.body.message, /provided IP is already allocated/)
    const samePort = await make(second, 'second', { type: 'NodePort', ports })
    assert.match(samePort.body.message, /provided port is already allocated/)
    assert.equal((await first.ask('DELETE', `${services}/first`)).status, 200)
    const { status, text } = await make(second, 'second', held)
    assert.equal(status, 201, text)
    assert.equal((await second.ask('DELETE', `${services}/second`)).status, 200)
  }
})

/** What services of all namespaces have, and whether any two have the same. */
async function given(server: RunningServer): Promise<{ addresses: string[]; ports: number[] }> {
  const { items } = (await server.ask('GET', '/api/v1/services')).body
  const specs = items.map(({ spec }: { spec: Spec }) => spec)
  const addresses = specs.flatMap(({ clusterIPs }: Spec) => clusterIPs)
  const ports = specs.flatMap((spec: Spec) => spec.ports.flatMap(({ nodePort }) => nodePort ?? []))
  assert.equal(new Set(addresses).size, addresses.length)
  assert.equal(new Set(ports).size, ports.length)
  return { addresses, ports }
}

interface Spec {
  clusterIPs: string[]
  ports: { nodePort?: number }[]
}

test('two that give out at the same instant never give out the same, to the last one there is', {
  skip,
}, async () => {
  const flags = [
    `--etcd-servers=${etcd.endpoint}`,
    '--etcd-prefix=/small',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-node-port-range=30000-30199',
  ]
  const first = await startServer(flags)
  const second = await startServer([
    ...flags,
    '--storage-media-type=application/vnd.kubernetes.protobuf',
  ])
  const services = '/api/v1/namespaces/default/services'
  const make = (server: RunningServer, name: string, spec: object) =>
    server.ask('POST', services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
  try {
    const wanted = Array.from({ length: 300 }, (_, i) => i)
    const made = await Promise.all(
      wanted.map((i) =>
        make(i % 2 ? first : second, `s-${i}`, i < 250 ? { type: 'NodePort' } : {}),
      ),
    )
    const refused = made.filter(({ status }) => status !== 201)
    const words = new Set(refused.map(({ body }) => body.message))
    for (const word of words)
      assert.match(
        word,
        /^Internal error occurred: failed to allocate a (serviceIP|nodePort): range is full$/,
      )
    const { addresses, ports } = await given(first)
    // One address is that of the API itself.
    assert.deepEqual([addresses.length, ports.length], [300 - refused.length + 1, 200])
    for (let left = 254 - addresses.length; left > 0; left--) {
      const { status, text } = await make(left % 2 ? first : second, `last-${left}`, {})
      assert.equal(status, 201, text)
    }
    for (const server of [first, second]) {
      const { body } = await make(server, 'never', {})
      assert.match(body.message, /failed to allocate a serviceIP: range is full/)
    }
    // What one takes away both can give again.
    const { body: gone } = await first.ask('GET', `${services}/last-1`)
    assert.equal((await first.ask('DELETE', `${services}/last-1`)).status, 200)
    const again = await make(second, 'again', {})
    assert.deepEqual(again.body.spec?.clusterIP, gone.spec.clusterIP, again.text)
    // Both want the same at the same instant.
    await second.ask('DELETE', `${services}/again`)
    const asked = { clusterIP: gone.spec.clusterIP }
    const both = await Promise.all(
      [first, second, first, second].map((server, i) => make(server, `same-${i}`, asked)),
    )
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 422, 422, 422])
    await given(second)
  } finally {
    await Promise.all([first.stop(), second.stop()])
  }
})

test('the API is at the addresses of all who serve it, and of those who stop no longer', {
  skip,
}, async () => {
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--etcd-prefix=/members', '--controllers=-*']
  const endpoints = '/api/v1/namespaces/default/endpoints/kubernetes'
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
  const start = (address: string) => startServer([...flags, `--advertise-address=${address}`])
  const first = await start('192.0.2.7')
  const second = await start('192.0.2.10')
  const known = async () => {
    const { subsets } = (await second.ask('GET', endpoints)).body
    const slice = (await second.ask('GET', slices)).body.endpoints
    const addresses = subsets[0].addresses.map(({ ip }: { ip: string }) => ip)
    const mirrored = slice.flatMap((one: { addresses: string[] }) => one.addresses)
    return `${addresses} ${mirrored}`
  }
  const both = '192.0.2.10,192.0.2.7'
  try {
    await until('both to be there', async () => (await known()) === `${both} ${both}`)
    // Half of what another server left behind is mended, too.
    const { body } = await second.ask('GET', slices)
    body.endpoints.push({ addresses: ['192.0.2.99'], conditions: { ready: true } })
    assert.equal((await second.ask('PUT', slices, body)).status, 200)
    await until('what is wrong to go', async () => (await known()) === `${both} ${both}`)
    await first.stop()
    await until('who stopped to be gone', async () => (await known()) === '192.0.2.10 192.0.2.10')
  } finally {
    await Promise.all([first.stop('SIGKILL'), second.stop()])
  }
})

test('servers that start at the same time on an empty store all start, and each is trusted', {
  skip,
}, async () => {
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--etcd-prefix=/together', '--controllers=-*']
  const started = await Promise.allSettled([1, 2, 3].map(() => startServer(flags)))
  const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  try {
    assert.deepEqual(
      started.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    )
    const trust = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
    const { body } = await (servers[0] as RunningServer).ask('GET', trust)
    assert.equal(body.data['client-ca-file'].match(/BEGIN CERTIFICATE/g).length, 3)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
})

test('a claim left behind by a server that died does not prevent a start', {
  skip,
}, async () => {
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--etcd-prefix=/claimed', '--controllers=-*']
  const service = '/api/v1/namespaces/default/services/kubernetes'
  await (await startServer(flags)).stop()
  const storage = await openEtcdStorage({ endpoints: [etcd.endpoint] })
  const revisionOf = async (key: string) => (await storage.get(key)).value?.revision ?? 0
  const made = '/claimed/services/specs/default/kubernetes'
  await storage.delete(made, { ifRevision: await revisionOf(made) })
  const again = await startServer(flags)
  try {
    assert.equal((await again.ask('GET', service)).status, 404)
    const claims = '/claimed/ranges/serviceips'
    const none = { kind: 'RangeAllocation', apiVersion: 'v1', range: '10.0.0.0/16', data: '' }
    const bytes = Buffer.from(JSON.stringify(none))
    await storage.put(claims, bytes, { ifRevision: await revisionOf(claims) })
    await until(
      'the service to be made',
      async () => (await again.ask('GET', service)).status === 200,
    )
  } finally {
    await Promise.all([again.stop(), storage.close()])
  }
})

test('one of two leads, and when it is killed the other does', { skip }, async () => {
  const flags = [
    `--etcd-servers=${etcd.endpoint}`,
    '--etcd-prefix=/elected',
    '--leader-elect-lease-duration=6s',
    '--leader-elect-renew-deadline=5s',
    '--leader-elect-retry-period=200ms',
  ]
  const first = await startServer(flags)
  const second = await startServer(flags)
  try {
    await accountComes(second, 'before')
    assert.deepEqual([await leads(first), await leads(second)], [true, false])
    const { spec: held } = (await second.ask('GET', lease)).body
    assert.equal(held.leaseDurationSeconds, 6)
    await first.stop('SIGKILL')
    await accountComes(second, 'after')
    assert.equal(await leads(second), true)
    const { spec: taken } = (await second.ask('GET', lease)).body
    assert.notEqual(taken.holderIdentity, held.holderIdentity)
    assert.equal(taken.leaseTransitions, held.leaseTransitions + 1)
  } finally {
    await Promise.all([first.stop('SIGKILL'), second.stop()])
  }
})

test('etcd away: writes fail clearly, old reads go on, and all is well when it is back', {
  skip,
}, async () => {
  const { body: list } = await one.ask('GET', maps)
  const watching = watch(
    one,
    `${maps}?watch=1&resourceVersion=${list.metadata.resourceVersion}&labelSelector=later`,
  )
  await etcd.kill()
  await until('readyz turns red', async () => (await one.ask('GET', '/readyz')).status !== 200)
  const write = await one.ask('POST', `${maps}?timeout=2s`, { metadata: { name: 'never' } })
  assert.ok(write.status === 503 || write.status === 500 || write.status === 504, write.text)
  assert.match(write.body.message, /etcd|store|allotted timeout/i)
  const old = await one.ask('GET', `${maps}?resourceVersion=0`)
  assert.equal(old.status, 200)
  assert.equal(old.body.items.length, list.items.length)
  assert.equal((await one.ask('GET', `${maps}/shared-1?resourceVersion=0`)).status, 200)
  // One that starts meanwhile waits for it.
  const third = startServer([`--etcd-servers=${etcd.endpoint}`])
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await etcd.resume()
  await (await third).stop()
  for (const server of [one, two]) {
    await until(
      'readyz is green again',
      async () => (await server.ask('GET', '/readyz')).status === 200,
    )
  }
  const made = await two.ask('POST', maps, {
    metadata: { name: 'later', labels: { later: 'yes' } },
  })
  assert.equal(made.status, 201, made.text)
  await until('the watch goes on', () =>
    watching.events.some(({ object }) => object.metadata.name === 'later'),
  )
  watching.stop()
  assert.equal((await one.ask('GET', `${maps}/later`)).status, 200)
  assert.equal((await one.ask('GET', `${maps}/never`)).status, 404)
})
