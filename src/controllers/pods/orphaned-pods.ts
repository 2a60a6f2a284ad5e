/**
 * Deletes pods on missing nodes, because no kubelet will end them. A node has some time to appear
 * or return before its pods are deleted.
 */
import { escapedValue } from '#api/field-selector.ts'
import type { Informer } from '#client/informer.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { type KeptMeta, type KeptPod, metaOf } from '#controllers/kept.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { nodes as nodeResource, pods } from '#controllers/resources.ts'
import { deleteNow } from './delete-now.ts'

export function collectOrphaned(
  parts: ControllerParts,
  found: Informer<KeptPod>,
  nodes: Informer<KeptMeta>,
  quarantineMs: number,
): void {
  const { client } = parts
  const queue = queueFor('orphaned_pods_nodes', parts, async (node) => {
    await nodes.synced
    if (nodes.get('', node) !== undefined) return
    if ((await unlessMissing(client.get(nodeResource, '', node))) !== undefined) return
    // A binding may name anything as a node.
    const fieldSelector = `spec.nodeName=${escapedValue(node)}`
    const { items } = await client.list(pods, '', { fieldSelector })
    await Promise.all(items.map((pod) => deleteNow(client, metaOf(pod))))
  })
  found.listen({
    seen: ({ spec }) => {
      const node: string = spec?.nodeName ?? ''
      if (node !== '' && nodes.get('', node) === undefined) queue.addAfter(node, quarantineMs)
    },
  })
  nodes.listen({ deleted: ({ name }) => queue.addAfter(name, quarantineMs) })
}
