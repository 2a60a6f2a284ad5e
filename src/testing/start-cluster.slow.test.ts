/** Clusters for tests: started, forked, reset and closed inside this process. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { CoreV1Api, KubeConfig, type V1ConfigMap } from '@kubernetes/client-node'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { FailedRequest } from './failed-request.ts'
import { startCluster } from './start-cluster.ts'
import type { TestCluster } from './test-cluster.ts'

let cluster: TestCluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.close())

const reference = (name: string, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
})
const configMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  ...reference(name),
  data,
})
const failsWith = (code: number) => (error: unknown) =>
  error instanceof FailedRequest && error.code === code

async function eventually(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !condition(); i++)
    await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(condition(), 'in 5 s')
}

test('the client creates, reads, updates, patches, applies and deletes', async () => {
  await using mine = await cluster.fork()
  const { client } = mine
  const made = await client.create(configMap('a', { b: '1' }))
  assert.equal(made.metadata.namespace, 'default')
  const updated = await client.update({ ...made, data: { b: '2' } })
  assert.equal(updated.data.b, '2')
  await assert.rejects(client.update({ ...made, data: { b: '3' } }), failsWith(409))
  const patched = await client.patch(reference('a'), { data: { c: '4' } })
  assert.deepEqual(patched.data, { b: '2', c: '4' })
  const json = [{ op: 'remove', path: '/data/b' }]
  assert.deepEqual((await client.patch(reference('a'), json)).data, { c: '4' })
  await assert.rejects(
    client.apply(configMap('a', { c: '5' }), { fieldManager: 'other' }),
    failsWith(409),
  )
  const applied = await client.apply(configMap('a', { c: '5' }), { force: true })
  assert.equal(applied.data.c, '5')
  assert.equal((await client.get(reference('a'))).data.c, '5')
  const { items } = await client.list(reference('', 'default'))
  assert.ok(items.some(({ metadata }) => metadata.name === 'a'))
  await client.delete(reference('a'))
  await assert.rejects(client.get(reference('a')), failsWith(404))
})

test('a fork, its origin and its own forks do not affect each other', async () => {
  await using one = await cluster.fork()
  await one.client.create(configMap('shared'))
  await using two = await one.fork('two')
  await one.client.create(configMap('in-one'))
  await two.client.create(configMap('in-two'))
  const names = async ({ client }: TestCluster) => {
    const { items } = await client.list(reference('', 'default'))
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt')
  }
  assert.deepEqual(await names(one), ['in-one', 'shared'])
  assert.deepEqual(await names(two), ['in-two', 'shared'])
  assert.deepEqual(await names(cluster), [])
})

test('a reset restores the state of the fork and ends watches', async () => {
  await using mine = await cluster.fork()
  await mine.client.create(configMap('kept'))
  const snapshot = mine.snapshot()
  const { resourceVersion } = (await mine.client.create(configMap('lost'))).metadata
  const events: string[] = []
  const watching = (async () => {
    const from = { resourceVersion: String(snapshot.revision) }
    for await (const { object } of mine.client.watch(reference('', 'default'), from))
      events.push(object.metadata.name as string)
  })()
  await eventually(() => events.includes('lost'))
  await mine.restore(snapshot)
  await watching
  await assert.rejects(mine.client.get(reference('lost')), failsWith(404))
  assert.equal((await mine.client.get(reference('kept'))).metadata.name, 'kept')
  const late = mine.client.watch(reference('', 'default'), {
    resourceVersion: resourceVersion ?? '',
  })
  await assert.rejects(late.next(), failsWith(410))
  await mine.reset()
  await assert.rejects(mine.client.get(reference('kept')), failsWith(404))
})

test('clients can act as other users, with their permissions in the cluster', async () => {
  await using mine = await cluster.fork()
  const alice = mine.as('alice', { groups: ['dev'] })
  await assert.rejects(alice.get(reference('a')), failsWith(403))
  await mine.client.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'dev' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'dev' }],
  })
  await mine.client.create(configMap('a'))
  await mine.client.waitFor(reference('a'))
  assert.equal((await alice.get(reference('a'))).metadata.name, 'a')
  await assert.rejects(alice.delete(reference('a')), failsWith(403))
  await using other = await cluster.fork()
  await assert.rejects(other.as('alice', { groups: ['dev'] }).get(reference('a')), failsWith(403))
})

test('requests are recorded', async () => {
  await using mine = await cluster.fork()
  await mine.client.create(configMap('a'))
  const writes = mine.requests.filter(({ method }) => method === 'POST')
  assert.deepEqual(
    writes.map(({ url, status }) => [url, status]),
    [['/api/v1/namespaces/default/configmaps', 201]],
  )
})

test('an informer follows a kind', async () => {
  await using mine = await cluster.fork()
  const seen: string[] = []
  const log = (what: string) => (object: KubeObject) => seen.push(`${what} ${object.metadata.name}`)
  await using informer = await mine.client.informer(reference('', 'default'), {
    onAdd: log('add'),
    onUpdate: log('update'),
    onDelete: log('delete'),
  })
  await mine.client.create(configMap('a'))
  await mine.client.patch(reference('a'), { data: { b: 'c' } })
  await mine.client.delete(reference('a'))
  const own = () => seen.filter((one) => one.endsWith(' a'))
  await eventually(() => own().length >= 3)
  assert.deepEqual(own(), ['add a', 'update a', 'delete a'])
  assert.ok(!informer.objects.has('default/a'))
})

test('a timeout reports the object and its state', async () => {
  await using mine = await cluster.fork()
  const wait = mine.client.waitFor(reference('a'), undefined, { timeoutMs: 50 })
  await assert.rejects(
    wait,
    /ConfigMap default\/a did not meet the condition in 50 ms: it does not exist/,
  )
})

test('clusters are reached over the network by their path, each with its own token', async () => {
  await using one = await cluster.fork()
  await using two = await cluster.fork()
  const { clusters, users } = JSON.parse(one.kubeconfig)
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64')
  const { get } = await import('node:https')
  const status = (url: string, token: string) =>
    new Promise<number>((resolve, reject) => {
      const options = { ca, headers: { authorization: `Bearer ${token}` }, agent: false }
      get(url, options, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      }).on('error', reject)
    })
  const rows: [url: string, token: string, want: number][] = [
    [`${one.url}/api/v1/nodes`, users[0].user.token, 200],
    [`${two.url}/api/v1/nodes`, one.token, 401],
    [`${cluster.url}/api/v1/nodes`, one.token, 401],
    [`${cluster.url}/api/v1/nodes`, cluster.token, 200],
    [`${cluster.url}/clusters/none/api/v1/nodes`, cluster.token, 404],
  ]
  for (const [url, token, want] of rows) assert.equal(await status(url, token), want, url)
})

test('a service account token is valid in its cluster and in later forks of it', async () => {
  await using one = await cluster.fork()
  await using sibling = await cluster.fork()
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'bot', namespace: 'default' },
  }
  await cluster.client.create(account)
  await using parent = await cluster.fork()
  await cluster.client.delete(account)
  const path = '/api/v1/namespaces/default/serviceaccounts/bot/token'
  const tokenRequest = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = (await parent.client.request('POST', path, tokenRequest)) as Loose
  await using child = await parent.fork()
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token: status.token },
  }
  const rows: [TestCluster, boolean][] = [
    [parent, true],
    [child, true],
    [one, false],
    [sibling, false],
    [cluster, false],
  ]
  for (const [where, valid] of rows) {
    const reviewed = await where.client.create(review as unknown as KubeObject)
    assert.equal(reviewed.status?.authenticated ?? false, valid, where.name)
  }
  // Another fork with the same account does not accept the token either.
  await using twin = await parent.fork()
  const made = (await child.client.request('POST', path, tokenRequest)) as Loose
  const seen = await twin.client.create({
    ...review,
    spec: { token: made.status.token },
  } as unknown as KubeObject)
  assert.equal(seen.status?.authenticated ?? false, false)
})

test('manifests are loaded with their kinds, and their objects can be created at once, also in a fork', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-manifests-'))
  const names = { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  }
  const gear = (name: string) => ({
    apiVersion: 'example.com/v1',
    kind: 'Gear',
    metadata: { name, namespace: 'default' },
  })
  writeFileSync(join(folder, 'a-gear.json'), JSON.stringify(gear('a')))
  writeFileSync(join(folder, 'definition.json'), JSON.stringify(definition))
  await using mine = await cluster.fork()
  const loaded = await mine.loadManifests(folder)
  assert.deepEqual(
    loaded.map(({ kind }) => kind),
    ['CustomResourceDefinition', 'Gear'],
  )
  const conditions: { type: string }[] = loaded[0]?.status.conditions
  assert.ok(conditions.some(({ type }) => type === 'Established'))
  await using fork = await mine.fork()
  await fork.client.create(gear('b'))
  const { items } = await fork.client.list(gear(''))
  assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), ['a', 'b'])
  rmSync(folder, { recursive: true })
})

test('settings that would store state outside memory are rejected', async () => {
  await assert.rejects(startCluster({ storageBackend: 'etcd3' }), /keep their state in memory/)
})

test('a snapshot in a file restores the state, also in another cluster', async () => {
  const place = mkdtempSync(join(tmpdir(), 'binnacle-snapshot-'))
  try {
    const file = join(place, 'state')
    await using one = await cluster.fork()
    await one.client.create(configMap('kept'))
    const { revision } = one.snapshot({ file })
    await one.client.create(configMap('lost'))
    await using two = await cluster.fork()
    for (const mine of [one, two]) {
      await mine.restore(file)
      assert.equal(mine.revision, revision)
      assert.equal((await mine.client.get(reference('kept'))).metadata.name, 'kept')
      await assert.rejects(mine.client.get(reference('lost')), failsWith(404))
    }
    await assert.rejects(one.restore(join(place, 'none')), { code: 'ENOENT' })
  } finally {
    rmSync(place, { recursive: true })
  }
})

test('a closed cluster rejects the calls of its clients, and its informers end', async () => {
  const mine = await cluster.fork()
  await mine.client.create(configMap('a'))
  const informer = await mine.client.informer(reference('', 'default'))
  const other = mine.as('alice')
  await mine.close()
  const closed = { name: 'ClosedCluster', message: /is closed/ }
  for (const client of [mine.client, other]) {
    await assert.rejects(client.get(reference('a')), closed)
    await assert.rejects(client.waitFor(reference('a')), closed)
  }
  await assert.rejects(mine.restore('nowhere'), closed)
  await informer.close()
})

test('client-node connects with kubeConfig, and its types fit the client', async () => {
  await using mine = await cluster.fork()
  const config = new KubeConfig()
  config.loadFromOptions(mine.kubeConfig)
  const core = config.makeApiClient(CoreV1Api)
  const typed: V1ConfigMap = { ...reference('typed'), data: { a: '1' } }
  await mine.client.create(typed)
  const read = await core.readNamespacedConfigMap({ name: 'typed', namespace: 'default' })
  assert.deepEqual(read.data, { a: '1' })
  const found: V1ConfigMap = await mine.client.get<V1ConfigMap>(typed)
  assert.equal(found.metadata?.name, 'typed')
  const filled = ({ data = {} }: V1ConfigMap = {}) => data['a'] === '1'
  await mine.client.waitFor<V1ConfigMap>(typed, filled)
  await mine.client.update<V1ConfigMap>({ ...found, data: { a: '2' } })
  await mine.client.delete(typed)
})
