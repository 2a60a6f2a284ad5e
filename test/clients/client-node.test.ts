/**
 * @kubernetes/client-node: objects, pages, watches, and an informer that outlives the server it
 * watches.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node'
import { freePort, type RunningServer, startServer } from '../running-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-client-node-'))
let server: RunningServer
let config: KubeConfig

function configOf({ dataDir }: RunningServer): KubeConfig {
  const made = new KubeConfig()
  made.loadFromFile(join(dataDir, 'admin.kubeconfig'))
  return made
}

before(async () => {
  server = await startServer()
  config = configOf(server)
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function until(what: string, isSo: () => boolean, timeoutMs = 60_000): Promise<void> {
  for (const end = Date.now() + timeoutMs; !isSo(); ) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const refusedWith = (code: number) => (error: unknown) =>
  error instanceof ApiException && error.code === code

test('objects are created, read, changed and deleted', async () => {
  const core = config.makeApiClient(CoreV1Api)
  const namespace = 'default'
  const body = { metadata: { name: 'life', labels: { app: 'life' } }, data: { a: '1' } }
  const created = await core.createNamespacedConfigMap({ namespace, body })
  assert.ok(created.metadata?.uid)
  assert.ok(created.metadata.creationTimestamp instanceof Date)
  await assert.rejects(core.createNamespacedConfigMap({ namespace, body }), refusedWith(409))
  const read = await core.readNamespacedConfigMap({ namespace, name: 'life' })
  const replaced = await core.replaceNamespacedConfigMap({
    namespace,
    name: 'life',
    body: { ...read, data: { a: '2' } },
  })
  assert.deepEqual(replaced.data, { a: '2' })
  await assert.rejects(
    core.replaceNamespacedConfigMap({ namespace, name: 'life', body: read }),
    refusedWith(409),
    'the version read before is outdated',
  )
  const patched = await core.patchNamespacedConfigMap(
    { namespace, name: 'life', body: { data: { b: '3' } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  )
  assert.deepEqual(patched.data, { a: '2', b: '3' })
  await core.deleteNamespacedConfigMap({ namespace, name: 'life' })
  await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'life' }), refusedWith(404))
})

test('scale and status are written apart from the rest', async () => {
  const apps = config.makeApiClient(AppsV1Api)
  const place = { namespace: 'default', name: 'web' }
  await apps.createNamespacedDeployment({
    namespace: 'default',
    body: {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'c', image: 'nginx' }] },
        },
      },
    },
  })
  const scale = await apps.readNamespacedDeploymentScale(place)
  assert.equal(scale.spec?.replicas, 1)
  await apps.replaceNamespacedDeploymentScale({
    ...place,
    body: { ...scale, spec: { replicas: 3 } },
  })
  const scaled = await apps.readNamespacedDeployment(place)
  assert.equal(scaled.spec?.replicas, 3)
  const told = await apps.replaceNamespacedDeploymentStatus({
    ...place,
    body: {
      ...scaled,
      spec: { ...scaled.spec, replicas: 9 } as never,
      status: { readyReplicas: 2, replicas: 2 },
    },
  })
  assert.equal(told.spec?.replicas, 3)
  assert.equal(told.status?.readyReplicas, 2)
  await apps.deleteCollectionNamespacedDeployment({ namespace: 'default' })
})

test('pages of one list are one moment, whatever is written meanwhile', async () => {
  const core = config.makeApiClient(CoreV1Api)
  const namespace = 'default'
  const names = Array.from({ length: 25 }, (_, i) => `page-${String(i).padStart(2, '0')}`)
  const make = (name: string) =>
    core.createNamespacedSecret({
      namespace,
      body: { metadata: { name, labels: { paged: 'yes' } } },
    })
  await Promise.all(names.map(make))
  const seen: string[] = []
  const versions = new Set<string>()
  let _continue: string | undefined
  do {
    const page = await core.listNamespacedSecret({
      namespace,
      limit: 7,
      labelSelector: 'paged',
      ...(_continue !== undefined && { _continue }),
    })
    seen.push(...page.items.map((item) => item.metadata?.name as string))
    versions.add(page.metadata?.resourceVersion as string)
    _continue = page.metadata?._continue
    await make(`page-99-${seen.length}`)
    await core
      .deleteNamespacedSecret({ namespace, name: names[24 - versions.size - seen.length / 7] })
      .catch(() => {})
  } while (_continue)
  assert.deepEqual(seen, names)
  assert.equal(versions.size, 1)
  await assert.rejects(
    core.listNamespacedSecret({ namespace, limit: 7, _continue: 'nonsense' }),
    refusedWith(400),
  )
})

test('a watch reports what exists, what changes and what leaves its selector', async () => {
  const core = config.makeApiClient(CoreV1Api)
  const namespace = 'default'
  const heard: string[] = []
  let ended: unknown = 'no'
  const controller = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { labelSelector: 'seen=yes', timeoutSeconds: 60 },
    (type, object) => heard.push(`${type} ${object.metadata.name} ${object.data?.n ?? ''}`),
    (error) => {
      ended = error
    },
  )
  const put = (seen: string, n: string) =>
    core.replaceNamespacedConfigMap({
      namespace,
      name: 'watched',
      body: { metadata: { name: 'watched', labels: { seen } }, data: { n } },
    })
  await core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name: 'watched', labels: { seen: 'no' } }, data: { n: '0' } },
  })
  await put('yes', '1')
  await put('yes', '2')
  await put('no', '3')
  await put('yes', '4')
  await core.deleteNamespacedConfigMap({ namespace, name: 'watched' })
  await until('five events', () => heard.length >= 5)
  controller.abort()
  await until('the end', () => ended !== 'no')
  assert.deepEqual(heard, [
    'ADDED watched 1',
    'MODIFIED watched 2',
    'DELETED watched 2',
    'ADDED watched 4',
    'DELETED watched 4',
  ])
})

test('custom kinds are objects like others', async () => {
  const defined = await server.ask(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } },
                },
              },
            },
          },
        ],
      },
    },
  )
  assert.equal(defined.status, 201)
  const custom = config.makeApiClient(CustomObjectsApi)
  const place = { group: 'example.com', version: 'v1', namespace: 'default', plural: 'widgets' }
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: {} }
  let made: { spec?: { size?: number } } = {}
  for (let i = 0; made.spec === undefined; i++) {
    made = await custom.createNamespacedCustomObject({ ...place, body }).catch((error) => {
      if (i > 200) throw error
      return new Promise((resolve) => setTimeout(() => resolve({}), 20))
    })
  }
  assert.equal(made.spec?.size, 3)
  const list = (await custom.listNamespacedCustomObject(place)) as { items: unknown[] }
  assert.equal(list.items.length, 1)
})

test('an informer stays right while the server is killed and comes back', async () => {
  const dataDir = join(folder, 'state')
  const port = await freePort()
  const flags = ['--storage-backend=sqlite', `--secure-port=${port}`]
  let running = await startServer(flags, dataDir)
  const kept = configOf(running)
  const core = kept.makeApiClient(CoreV1Api)
  const namespace = 'default'
  const place = `/api/v1/namespaces/${namespace}/configmaps`
  const listing = () => core.listNamespacedConfigMap({ namespace, labelSelector: 'kept=yes' })
  const informer = makeInformer<V1ConfigMap>(kept, place, listing, 'kept=yes')
  let wanted = true
  const again = () => {
    if (wanted) setTimeout(() => void informer.start().catch(again), 50)
  }
  informer.on('error', again)
  await informer.start()
  const written = new Map<string, string>()
  const write = async (name: string, value: string) => {
    const body = { metadata: { name, labels: { kept: 'yes' } }, data: { value } }
    await (written.has(name)
      ? core.replaceNamespacedConfigMap({ namespace, name, body })
      : core.createNamespacedConfigMap({ namespace, body }))
    written.set(name, value)
  }
  const remove = async (name: string) => {
    await core.deleteNamespacedConfigMap({ namespace, name })
    written.delete(name)
  }
  const agrees = () => {
    const known = informer.list()
    if (known.length !== written.size) return false
    return known.every(
      ({ metadata, data }) => written.get(metadata?.name as string) === data?.value,
    )
  }
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10; i++) await write(`cm-${i}`, `${round}`)
    await remove(`cm-${round}`)
    await until(`agreement before kill ${round}`, agrees)
    await write('cm-9', `${round} late`)
    await running.stop('SIGKILL')
    running = await startServer(flags, dataDir)
    await until(`agreement after kill ${round}`, agrees)
    await write('cm-8', `${round} again`)
    await until(`agreement after a write ${round}`, agrees)
  }
  wanted = false
  await informer.stop()
  await running.stop()
})
