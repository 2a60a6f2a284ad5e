/**
 * Keeps a ConfigMap beside every Greeting: made when the greeting is, changed and restored when it
 * should be, and gone with it, because the ConfigMap names the greeting as its owner. What is
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

export async function startController(config: KubeConfig): Promise<Controller> {
  const core = config.makeApiClient(CoreV1Api)
  const custom = config.makeApiClient(CustomObjectsApi)
  let isStopped = false

  const greetings = makeInformer<Greeting>(
    config,
    `/apis/${kind.group}/${kind.version}/${kind.plural}`,
    () => custom.listClusterCustomObject(kind) as Promise<KubernetesListObject<Greeting>>,
  )
  const maps = makeInformer<V1ConfigMap>(
    config,
    '/api/v1/configmaps',
    () => core.listConfigMapForAllNamespaces({ labelSelector: ownedLabel }),
    ownedLabel,
  )

  async function reconcile(namespace: string, name: string): Promise<void> {
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

  // One greeting is looked at by one run at a time; what happens meanwhile has it looked at once
  // more.
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()
  function look(namespace = '', name = ''): void {
    const key = `${namespace}/${name}`
    if (running.has(key)) {
      again.add(key)
      return
    }
    const run = reconcile(namespace, name)
      .catch((error: Error) => {
        console.error(`${key}: ${error.message}`)
        setTimeout(() => !isStopped && look(namespace, name), retryMs).unref()
      })
      .finally(() => {
        running.delete(key)
        if (again.delete(key) && !isStopped) look(namespace, name)
      })
    running.set(key, run)
  }

  const lookAtGreeting = ({ metadata }: Greeting) => look(metadata?.namespace, metadata?.name)
  const lookAtOwner = ({ metadata }: V1ConfigMap) =>
    look(metadata?.namespace, metadata?.labels?.[ownedLabel])
  for (const change of ['add', 'update'] as const) greetings.on(change, lookAtGreeting)
  for (const change of ['update', 'delete'] as const) maps.on(change, lookAtOwner)

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
