/**
 * A namespace that is marked for deletion is emptied, says in its status how that goes, and is let go by removing the
 * `kubernetes` finalizer of its spec. It never touches a namespace that is not marked.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { namespaces } from '#controllers/resources.ts'
import { nextConditions } from './conditions.ts'
import { emptyNamespace } from './empty.ts'

const ownFinalizer = 'kubernetes'
/** The first look at what remains; later ones come less often, up to half of what is estimated. */
const firstAgainMs = 250

export const namespaceController: Controller = {
  name: 'namespace',
  account: 'namespace-controller',
  start(parts) {
    const waits = new Map<string, number>()
    const work = async (name: string) => {
      const estimateSeconds = await finish(parts, name)
      if (estimateSeconds === 0) {
        waits.delete(name)
        return undefined
      }
      const wait = Math.min((waits.get(name) ?? firstAgainMs) * 2, (estimateSeconds / 2 + 1) * 1000)
      waits.set(name, wait)
      return wait
    }
    const queue = queueFor('namespace', parts, work, { workersMax: 10 })
    parts.informers.namespaces().listen({
      changed: (namespace) => {
        if (namespace.deleting) queue.add(namespace.name)
      },
    })
  },
}

/** Answers the seconds after which to look again; 0 when there is nothing left to do. */
async function finish({ client, clock }: ControllerParts, name: string): Promise<number> {
  let namespace = await unlessMissing(client.get(namespaces, '', name))
  if (namespace?.metadata.deletionTimestamp === undefined) return 0
  if (!(namespace.spec?.finalizers ?? []).includes(ownFinalizer)) return 0
  if (namespace.status?.phase !== 'Terminating') {
    namespace = await client.update(namespaces, withStatus(namespace, { phase: 'Terminating' }), 'status')
  }
  const now = clock.now()
  const ageSeconds = (now - Date.parse(namespace.metadata.deletionTimestamp as string)) / 1000
  const emptied = await emptyNamespace(client, name, ageSeconds)
  const at = `${new Date(now).toISOString().slice(0, 19)}Z`
  const conditions = nextConditions(namespace.status?.conditions ?? [], emptied, at)
  if (conditions !== undefined) {
    namespace = await client.update(namespaces, withStatus(namespace, { conditions }), 'status')
  }
  const failed = [...emptied.discoveryErrors, ...emptied.contentErrors]
  if (failed.length > 0) throw new Error(failed.join(', '))
  if (emptied.estimateSeconds > 0) return emptied.estimateSeconds
  const finalizers = (namespace.spec?.finalizers ?? []).filter((one: string) => one !== ownFinalizer)
  const spec = { ...namespace.spec, finalizers }
  await unlessMissing(client.update(namespaces, { ...namespace, spec }, 'finalize'))
  return 0
}

const withStatus = (namespace: KubeObject, change: object): KubeObject => ({
  ...namespace,
  status: { ...namespace.status, ...change },
})
