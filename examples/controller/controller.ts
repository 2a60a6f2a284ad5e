/**
 * Keeps a ConfigMap beside every Greeting. It is made when the greeting is, changed and restored
 * when it should be, and gone with it. The ConfigMap names the greeting as its owner. What is
 * wanted is written by server-side apply, so that fields that others add to the ConfigMap stay
 * theirs.
 */
import {
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  type KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
} from '@kubernetes/client-node'

export interface Greeting extends KubernetesObject {
  spec: { to: string; language: 'en' | 'de' | 'fr' }
  status?: { text?: string; observedGeneration?: number }
}

const kind = { group: 'example.com', version: 'v1', plural: 'greetings' }
const manager = 'greeting-controller'
const ownedLabel = 'example.com/greeting'
const words = { en: 'Hello', de: 'Hallo', fr: 'Bonjour' }

/** After a failure, and after a watch that ended. */
const retryMs = 500

export interface Controller {
  stop(): Promise<void>
}

interface Clients {
  readonly core: CoreV1Api
  readonly custom: CustomObjectsApi
  readonly greetings: Informer<Greeting> & ObjectCache<Greeting>
  readonly maps: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>
}

function clientsOf(config: KubeConfig): Clients {
  const core = config.makeApiClient(CoreV1Api)
  const custom = config.makeApiClient(CustomObjectsApi)
  return {
    core,
    custom,
    greetings: makeInformer<Greeting>(
      config,
      `/apis/${kind.group}/${kind.version}/${kind.plural}`,
      () => custom.listClusterCustomObject(kind) as Promise<KubernetesListObject<Greeting>>,
    ),
    maps: makeInformer<V1ConfigMap>(
      config,
      '/api/v1/configmaps',
      () => core.listConfigMapForAllNamespaces({ labelSelector: ownedLabel }),
      ownedLabel,
    ),
  }
}

/** Writes the ConfigMap of a greeting, then the status of the greeting, where they differ. */
async function reconcile(clients: Clients, namespace: string, name: string): Promise<void> {
  const { core, custom, greetings, maps } = clients
  const greeting = greetings.get(name, namespace)
  if (greeting?.metadata?.uid === undefined || greeting.metadata.deletionTimestamp) return
  const text = `${words[greeting.spec.language]}, ${greeting.spec.to}!`
  if (maps.get(`greeting-${name}`, namespace)?.data?.text !== text) {
    const owner = { apiVersion: 'example.com/v1', kind: 'Greeting', controller: true }
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `greeting-${name}`,
        labels: { [ownedLabel]: name },
        ownerReferences: [{ ...owner, name, uid: greeting.metadata.uid }],
      },
      data: { text },
    }
    await core.patchNamespacedConfigMap(
      { namespace, name: `greeting-${name}`, fieldManager: manager, force: true, body },
      setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
    )
  }
  const observedGeneration = greeting.metadata.generation
  if (greeting.status?.observedGeneration === observedGeneration) return
  await custom.patchNamespacedCustomObjectStatus(
    { ...kind, namespace, name, body: { status: { text, observedGeneration } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  )
}

export async function startController(config: KubeConfig): Promise<Controller> {
  const clients = clientsOf(config)
  const { greetings, maps } = clients
  let isStopped = false

  // One run at a time reconciles a greeting. A change during the run causes one more run.
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()
  function enqueue(namespace = '', name = ''): void {
    const key = `${namespace}/${name}`
    if (running.has(key)) {
      again.add(key)
      return
    }
    const run = reconcile(clients, namespace, name)
      .catch((error: Error) => {
        console.error(`${key}: ${error.message}`)
        setTimeout(() => !isStopped && enqueue(namespace, name), retryMs).unref()
      })
      .finally(() => {
        running.delete(key)
        if (again.delete(key) && !isStopped) enqueue(namespace, name)
      })
    running.set(key, run)
  }

  const enqueueGreeting = ({ metadata }: Greeting) => enqueue(metadata?.namespace, metadata?.name)
  const enqueueOwner = ({ metadata }: V1ConfigMap) =>
    enqueue(metadata?.namespace, metadata?.labels?.[ownedLabel])
  for (const change of ['add', 'update'] as const) greetings.on(change, enqueueGreeting)
  for (const change of ['update', 'delete'] as const) maps.on(change, enqueueOwner)

  async function keepStarted<T extends KubernetesObject>(informer: Informer<T>): Promise<void> {
    informer.on('error', () => {
      if (!isStopped) setTimeout(() => informer.start().catch(console.error), retryMs).unref()
    })
    await informer.start()
  }
  // ConfigMaps first: a greeting whose ConfigMap is there already is not written again.
  await keepStarted(maps)
  await keepStarted(greetings)
  return {
    stop: async () => {
      isStopped = true
      await Promise.all([greetings.stop(), maps.stop()])
      await Promise.all(running.values())
    },
  }
}
