/**
 * Pods that are being deleted and that no kubelet will ever let go: those on no node, and, once their grace is over, those
 * on a node that does not exist. Pods that nobody deleted are left alone.
 */
import type { Controller } from '#controllers/controller.ts'
import { isConflict, isMissing, queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { pods } from '#controllers/resources.ts'

export const podCollector: Controller = {
  name: 'podgc',
  account: 'pod-garbage-collector',
  start(parts) {
    const { client, informers, clock } = parts
    const found = informers.pods()
    const nodes = informers.nodes()
    const queue = queueFor('podgc', parts, async (key) => {
      await nodes.synced
      const [namespace, name] = splitKey(key)
      const kept = found.get(namespace, name)
      if (!kept?.deleting || nodes.get('', kept.node)) return
      const pod = await unlessMissing(client.get(pods, namespace, name))
      if (pod?.metadata.uid !== kept.uid || pod.metadata.deletionTimestamp === undefined) return
      const left = Date.parse(pod.metadata.deletionTimestamp) - clock.now()
      if (pod.spec?.nodeName && left > 0) return left
      await client
        .delete(pods, namespace, name, { uid: kept.uid, gracePeriodSeconds: 0 })
        .catch((error) => {
          if (!isMissing(error) && !isConflict(error)) throw error
        })
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
