/** Deletes finished jobs and their pods when ttlSecondsAfterFinished has passed. */
import type { Controller } from '#controllers/controller.ts'
import { queueFor, splitKey, unlessOvertaken } from '#controllers/queue-for.ts'
import { jobs } from '#controllers/resources.ts'

export const finishedJobs: Controller = {
  name: 'ttl-after-finished',
  account: 'ttl-after-finished-controller',
  start(parts) {
    const { client, informers, clock } = parts
    const found = informers.jobs()
    const queue = queueFor('ttl-after-finished', parts, async (key) => {
      const [namespace, name] = splitKey(key)
      const job = found.get(namespace, name)
      if (job?.endsAtMs === undefined || job.deleting) return
      const left = job.endsAtMs - clock.now()
      if (left > 0) return left
      const { uid, resourceVersion } = job
      const query = { uid, resourceVersion, propagationPolicy: 'Foreground' as const }
      await unlessOvertaken(client.delete(jobs, namespace, name, query))
    })
    found.listen({ changed: ({ namespace, name }) => queue.add(`${namespace}/${name}`) })
  },
}
