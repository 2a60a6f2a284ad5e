/**
 * The suite in TypeScript: see the README beside this folder. SUITE_PEER names the programs of a
 * real kube-apiserver.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ApiextensionsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  type V1ConfigMap,
} from '@kubernetes/client-node'
import { startCluster, type TestCluster } from 'binnacle/testing'

const definition = JSON.parse(readFileSync(new URL('../widgets.json', import.meta.url), 'utf8'))
const kind = { group: 'suites.example.com', version: 'v1', namespace: 'default', plural: 'widgets' }
const namespace = 'default'
const deadlineMs = 20_000

interface Widget {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string }
  readonly spec: { readonly size?: number }
  readonly status?: { readonly children?: number }
}

async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!(await condition())) {
    assert.ok(performance.now() < end, `the condition does not hold within ${deadlineMs} ms`)
    await sleep(5)
  }
}

class Scene {
  readonly core: CoreV1Api
  readonly custom: CustomObjectsApi
  readonly config: KubeConfig

  constructor(kubeconfig: string) {
    this.config = new KubeConfig()
    this.config.loadFromString(kubeconfig)
    this.core = this.config.makeApiClient(CoreV1Api)
    this.custom = this.config.makeApiClient(CustomObjectsApi)
  }

  /** Creates the definition and waits until the kind is served. */
  async install(): Promise<void> {
    const extensions = this.config.makeApiClient(ApiextensionsV1Api)
    await extensions.createCustomResourceDefinition({ body: definition })
    await eventually(() =>
      this.widgets().then(
        () => true,
        () => false,
      ),
    )
  }

  async widgets(): Promise<Widget[]> {
    const { items } = await this.custom.listNamespacedCustomObject(kind)
    return items as Widget[]
  }

  create(name: string, size: number): Promise<unknown> {
    const body = {
      apiVersion: 'suites.example.com/v1',
      kind: 'Widget',
      metadata: { name },
      spec: { size },
    }
    return this.custom.createNamespacedCustomObject({ ...kind, body })
  }

  async resize(name: string, size: number): Promise<void> {
    const now = (await this.custom.getNamespacedCustomObject({ ...kind, name })) as Widget
    const body = { ...now, spec: { size } }
    // The controller may write the status in between.
    await this.custom
      .replaceNamespacedCustomObject({ ...kind, name, body })
      .catch(() => this.resize(name, size))
  }

  async children(name: string): Promise<V1ConfigMap[]> {
    const labelSelector = `widget=${name}`
    return (await this.core.listNamespacedConfigMap({ namespace, labelSelector })).items
  }

  async status(name: string): Promise<number | undefined> {
    const widget = (await this.custom.getNamespacedCustomObject({ ...kind, name })) as Widget
    return widget.status?.children
  }

  async reconcile({ metadata: { name }, spec: { size = 0 }, status, ...rest }: Widget) {
    const found = await this.children(name)
    const names = new Set(found.map(({ metadata }) => metadata?.name ?? ''))
    const wanted = new Set(Array.from({ length: size }, (_, i) => `${name}-${i}`))
    const data = { of: name }
    for (const child of wanted.difference(names)) {
      const body = { metadata: { name: child, labels: { widget: name } }, data }
      await this.core.createNamespacedConfigMap({ namespace, body })
    }
    for (const child of names.difference(wanted))
      await this.core.deleteNamespacedConfigMap({ namespace, name: child })
    for (const child of found) {
      const childName = child.metadata?.name ?? ''
      if (!wanted.has(childName) || child.data?.['of'] === name) continue
      const body = { ...child, data }
      await this.core.replaceNamespacedConfigMap({ namespace, name: childName, body })
    }
    if (status?.children === size) return
    const now = (await this.custom.getNamespacedCustomObject({ ...kind, name })) as Widget
    const body = { ...rest, ...now, status: { children: size } }
    await this.custom.replaceNamespacedCustomObjectStatus({ ...kind, name, body })
  }
}

/** Reconciles every Widget after each change of a Widget or of a child. */
async function runController(scene: Scene): Promise<() => Promise<void>> {
  let isDue = true
  let isStopped = false
  const wake = () => {
    isDue = true
  }
  const widgetsPath = '/apis/suites.example.com/v1/namespaces/default/widgets'
  const informers = [
    makeInformer(scene.config, widgetsPath, () => scene.custom.listNamespacedCustomObject(kind)),
    makeInformer(scene.config, '/api/v1/namespaces/default/configmaps', () =>
      scene.core.listNamespacedConfigMap({ namespace }),
    ),
  ]
  for (const informer of informers) {
    for (const verb of ['add', 'update', 'delete'] as const) informer.on(verb, wake)
    await informer.start()
  }
  const work = (async () => {
    while (!isStopped) {
      if (!isDue) {
        await sleep(2)
        continue
      }
      isDue = false
      for (const widget of await scene.widgets()) await scene.reconcile(widget).catch(wake)
    }
  })().catch(() => {})
  return async () => {
    isStopped = true
    for (const informer of informers) await informer.stop()
    await work
  }
}

const peer = process.env['SUITE_PEER']
let shared: TestCluster | undefined
let fork: TestCluster | undefined
let server: ChildProcess | undefined
let scene: Scene
let stop = async () => {}

before(async () => {
  if (peer !== undefined) return
  shared = await startCluster()
  await new Scene(shared.kubeconfig).install()
})
after(() => shared?.close())

async function startPeer(programs: string): Promise<string> {
  const program = new URL('../peer-server.ts', import.meta.url).pathname
  const stdio = ['pipe', 'pipe', 'inherit'] as const
  server = spawn(process.execPath, [program, programs], { stdio: [...stdio] })
  const [line] = await once(createInterface(server.stdout as NodeJS.ReadableStream), 'line')
  return JSON.parse(line).kubeconfig
}

beforeEach(async () => {
  fork = await shared?.fork()
  scene = new Scene(fork?.kubeconfig ?? (await startPeer(peer ?? '')))
  if (peer !== undefined) await scene.install()
  stop = await runController(scene)
})
afterEach(async () => {
  await stop()
  await fork?.close()
  if (server === undefined) return
  server.stdin?.end()
  await once(server, 'exit')
})

const has = (name: string, count: number) => async () =>
  (await scene.children(name)).length === count
const counts = (name: string, count: number) => async () => (await scene.status(name)) === count

test('creates children', async () => {
  await scene.create('a', 3)
  await eventually(has('a', 3))
})

test('counts children', async () => {
  await scene.create('a', 2)
  await eventually(counts('a', 2))
})

test('grows', async () => {
  await scene.create('a', 1)
  await eventually(counts('a', 1))
  await scene.resize('a', 4)
  await eventually(has('a', 4))
})

test('shrinks', async () => {
  await scene.create('a', 3)
  await eventually(counts('a', 3))
  await scene.resize('a', 1)
  await eventually(has('a', 1))
})

test('replaces a deleted child', async () => {
  await scene.create('a', 2)
  await eventually(has('a', 2))
  await scene.core.deleteNamespacedConfigMap({ namespace, name: 'a-0' })
  await eventually(has('a', 2))
})

test('repairs a changed child', async () => {
  await scene.create('a', 1)
  await eventually(has('a', 1))
  const [child] = await scene.children('a')
  const body = { ...child, data: { of: 'b' } }
  await scene.core.replaceNamespacedConfigMap({ namespace, name: 'a-0', body })
  await eventually(async () => (await scene.children('a'))[0]?.data?.['of'] === 'a')
})

test('keeps widgets apart', async () => {
  await scene.create('a', 1)
  await scene.create('b', 2)
  await eventually(async () => (await counts('a', 1)()) && (await counts('b', 2)()))
  assert.equal((await scene.children('b')).length, 2)
})

test('refuses too many', async () => {
  await assert.rejects(scene.create('a', 6), (error: { code?: number }) => error.code === 422)
})
