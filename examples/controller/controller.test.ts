/** The controller against a real API: what it makes, mends, and leaves to others. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test, { after, before } from 'node:test'
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  loadYaml,
  PatchStrategy,
} from '@kubernetes/client-node'
import { type Controller, type Greeting, startController } from './controller.ts'
import { type Server, startServer } from '../server.ts'

const config = new KubeConfig()
let server: Server
let controller: Controller
let objects: KubernetesObjectApi
let core: CoreV1Api

const fromFile = (name: string) => loadYaml(readFileSync(`${import.meta.dirname}/${name}`, 'utf8'))
const greeting = fromFile('greeting.yaml') as Greeting & { metadata: { name: string } }
const place = { namespace: 'default', name: 'greeting-world' }
const mergePatch = PatchStrategy.MergePatch

/** Polls until the result is as wanted: a controller acts soon, not at once. */
async function eventually<T>(read: () => Promise<T>, isWanted: (got: T | undefined) => boolean) {
  for (const end = Date.now() + 30_000; ; ) {
    const got = await read().catch((error) => {
      if (!(error instanceof ApiException && error.code === 404)) throw error
      return undefined
    })
    if (isWanted(got)) return got
    if (Date.now() > end) throw new Error(`waited in vain, last: ${JSON.stringify(got)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
const configMap = () => core.readNamespacedConfigMap(place)

before(async () => {
  server = await startServer()
  config.loadFromFile(server.kubeconfig)
  objects = KubernetesObjectApi.makeApiClient(config)
  core = config.makeApiClient(CoreV1Api)
  await objects.create(fromFile('definition.yaml') as Greeting)
  // A new kind is served a moment after its definition was taken.
  await eventually(
    () => objects.list('example.com/v1', 'Greeting'),
    (got) => got !== undefined,
  )
  controller = await startController(config)
})
after(async () => {
  await controller?.stop()
  await server?.stop()
})

test('a greeting gets its ConfigMap and says so', async () => {
  await objects.create(greeting)
  const made = await eventually(configMap, (got) => got?.data?.text === 'Hello, world!')
  assert.equal(made?.metadata?.ownerReferences?.[0]?.name, 'world')
  await eventually(
    () => objects.read<Greeting>(greeting),
    (got) => got?.status?.text === 'Hello, world!' && got.status.observedGeneration === 1,
  )
})

test('what the schema does not allow never reaches the controller', async () => {
  const spec = { to: 'world', language: 'tlh' }
  const wrong = { ...greeting, metadata: { ...greeting.metadata, name: 'wrong' }, spec }
  await assert.rejects(objects.create(wrong as never), (error) => {
    return error instanceof ApiException && error.code === 422
  })
})

test('it follows the greeting, and leaves what others wrote', async () => {
  const data = { 'set-by': 'somebody else' }
  await objects.patch(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: place, data } as never,
    undefined,
    undefined,
    'somebody-else',
    undefined,
    mergePatch,
  )
  const spec = { language: 'fr' }
  await objects.patch(
    { ...greeting, spec } as never,
    undefined,
    undefined,
    undefined,
    undefined,
    mergePatch,
  )
  const changed = await eventually(configMap, (got) => got?.data?.text === 'Bonjour, world!')
  assert.equal(changed?.data?.['set-by'], 'somebody else')
})

test('it mends what was deleted', async () => {
  const { metadata } = await configMap()
  await core.deleteNamespacedConfigMap(place)
  await eventually(configMap, (got) => got !== undefined && got.metadata?.uid !== metadata?.uid)
})

test('the ConfigMap goes with its greeting', async () => {
  await objects.delete(greeting)
  await eventually(configMap, (got) => got === undefined)
})
