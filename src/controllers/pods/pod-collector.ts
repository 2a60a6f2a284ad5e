/**
 * Deletes pods that no kubelet will ever finish. These are terminating pods without a node,
 * terminating pods past their grace period on a missing node, and other pods on a missing node.
 * Also deletes the oldest finished pods beyond the limit.
 */
import type { Controller } from '#controllers/controller.ts'
import { queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { pods } from '#controllers/resources.ts'
import { deleteNow } from './delete-now.ts'
import { collectEnded } from './ended-pods.ts'
import { collectOrphaned } from './orphaned-pods.ts'

interface Times {
  /** How long a node may be missing before its pods go. */
  readonly quarantineMs: number
  /** How often ended pods are counted, at most. */
  readonly sweepMs: number
}

export const podCollector = podCollectorWith({ quarantineMs: 40_000, sweepMs: 20_000 })

export function podCollectorWith({ quarantineMs, sweepMs }: Times): Controller {
  return {
    name: 'podgc',
    account: 'pod-garbage-collector',
    start(parts) {
      const { client, informers, clock } = parts
      const found = informers.pods()
      const nodes = informers.nodes()
      collectEnded(parts, found, sweepMs)
      collectOrphaned(parts, found, nodes, quarantineMs)
      const queue = queueFor('podgc', parts, async (key) => {
        await nodes.synced
        const [namespace, name] = splitKey(key)
        const kept = found.get(namespace, name)
        if (!kept?.deleting || nodes.get('', kept.node)) return
        const pod = await unlessMissing(client.get(pods, namespace, name))
        if (pod?.metadata.uid !== kept.uid || pod.metadata.deletionTimestamp === undefined) return
        const left = Date.parse(pod.metadata.deletionTimestamp) - clock.now()
        if (pod.spec?.nodeName && left > 0) return left
        await deleteNow(client, kept)
      })
      const look = (pod: { deleting: boolean; namespace: string; name: string }) => {
        if (pod.deleting) queue.add(`${pod.namespace}/${pod.name}`)
      }
      found.listen({ changed: look })
      nodes.listen({
        deleted: (node) => {
          for (const pod of found.values()) if (pod.node === node.name) look(pod)
        },
      })
    },
  }
}
