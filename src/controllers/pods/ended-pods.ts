/** Limits the number of finished pods. The oldest pods beyond the limit are deleted. */
import type { Informer } from '#client/informer.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import type { KeptPod } from '#controllers/kept.ts'
import { queueFor } from '#controllers/queue-for.ts'
import { deleteNow } from './delete-now.ts'

/** The only key of the queue: each run looks at all finished pods. */
const queueKey = 'ended'

export function collectEnded(
  parts: ControllerParts,
  found: Informer<KeptPod>,
  sweepMs: number,
): void {
  const { client, terminatedPodsMax } = parts
  if (terminatedPodsMax <= 0) return
  const queue = queueFor('podgc_ended', parts, async () => {
    const ended = [...found.values()].filter((pod) => pod.ended)
    if (ended.length <= terminatedPodsMax) return
    ended.sort(byAge)
    const tooMany = ended.slice(0, ended.length - terminatedPodsMax)
    await Promise.all(tooMany.map((pod) => deleteNow(client, pod)))
  })
  found.listen({
    changed: (pod, before) => {
      if (pod.ended && !before?.ended) queue.addAfter(queueKey, sweepMs)
    },
  })
}

function byAge(a: KeptPod, b: KeptPod): number {
  if (a.created !== b.created) return a.created < b.created ? -1 : 1
  return a.name < b.name ? -1 : 1
}
