/**
 * Deletes the contents of terminating namespaces, reports progress in the status, and finally
 * removes the `kubernetes` finalizer from the spec. It never changes a namespace that is not
 * terminating.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { namespaces } from '#controllers/resources.ts'
import { type Findings, nextConditions } from './conditions.ts'
import { type Emptied, emptyNamespace } from './empty.ts'

const ownFinalizer = 'kubernetes'
/**
 * Delay of the next check while content is being deleted. The delay grows while nothing changes, up
 * to half the estimate.
 */
const firstAgainMs = 250

interface Waiting {
  readonly remaining: number
  readonly ms: number
}

export const namespaceController: Controller = {
  name: 'namespace',
  account: 'namespace-controller',
  start(parts) {
    const waiting = new Map<string, Waiting>()
    const work = async (name: string) => {
      const { remaining, estimateSeconds } = await finish(parts, name)
      const before = waiting.get(name)
      waiting.delete(name)
      if (estimateSeconds === 0) return undefined
      const longest = (estimateSeconds / 2 + 1) * 1000
      const ms = before?.remaining === remaining ? Math.min(before.ms * 2, longest) : firstAgainMs
      waiting.set(name, { remaining, ms })
      return ms
    }
    const queue = queueFor('namespace', parts, work, { workersMax: 10 })
    parts.informers.namespaces().listen({
      changed: (namespace, before) => {
        // Its own writes to the status change nothing that it waits for.
        if (namespace.deleting && !before?.deleting)
          queue.addAfter(namespace.name, parts.othersSeeMs)
      },
      deleted: ({ name }) => waiting.delete(name),
    })
  },
}

interface Left {
  readonly remaining: number
  /** Estimated seconds until the rest is deleted; 0 if nothing remains. */
  readonly estimateSeconds: number
}

const nothing: Left = { remaining: 0, estimateSeconds: 0 }

async function finish({ client, clock, feature }: ControllerParts, name: string): Promise<Left> {
  let namespace = await unlessMissing(client.get(namespaces, '', name))
  if (namespace?.metadata.deletionTimestamp === undefined) return nothing
  if (!(namespace.spec?.finalizers ?? []).includes(ownFinalizer)) return nothing
  if (namespace.status?.phase !== 'Terminating') {
    namespace = await client.update(
      namespaces,
      withStatus(namespace, { phase: 'Terminating' }),
      'status',
    )
  }
  const now = clock.now()
  const ageSeconds = (now - Date.parse(namespace.metadata.deletionTimestamp as string)) / 1000
  const isOrdered = feature('OrderedNamespaceDeletion')
  const emptied = await emptyNamespace(client, name, ageSeconds, isOrdered)
  const at = `${new Date(now).toISOString().slice(0, 19)}Z`
  const conditions = nextConditions(namespace.status?.conditions ?? [], shown(emptied), at)
  if (conditions !== undefined) {
    namespace = await client.update(namespaces, withStatus(namespace, { conditions }), 'status')
  }
  const failed = [...emptied.discoveryErrors, ...emptied.contentErrors]
  if (failed.length > 0) throw new Error(failed.join(', '))
  if (emptied.estimateSeconds > 0) {
    const remaining = [...emptied.remaining.values()].reduce((sum, count) => sum + count, 0)
    return { remaining, estimateSeconds: emptied.estimateSeconds }
  }
  const finalizers = (namespace.spec?.finalizers ?? []).filter(
    (one: string) => one !== ownFinalizer,
  )
  const spec = { ...namespace.spec, finalizers }
  await unlessMissing(client.update(namespaces, { ...namespace, spec }, 'finalize'))
  return nothing
}

/** The conditions count remaining objects only after the last pod is gone, as in Kubernetes. */
const shown = (emptied: Emptied): Findings =>
  emptied.waitsForPods ? { ...emptied, remaining: new Map(), finalizers: new Map() } : emptied

const withStatus = (namespace: KubeObject, change: object): KubeObject => ({
  ...namespace,
  status: { ...namespace.status, ...change },
})
