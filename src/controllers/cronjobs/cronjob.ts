/** Starts the jobs of CronJobs. */
import type { Controller } from '#controllers/controller.ts'
import { queueFor } from '#controllers/queue-for.ts'
import { cronJobs } from '#controllers/resources.ts'
import { eventRecorder } from '#controllers/workloads/event-recorder.ts'
import { OwnerIndex } from '#controllers/workloads/owner-index.ts'
import type { OwnerKind } from '#controllers/workloads/ownership.ts'
import { CronPass } from './cron-pass.ts'

const ownerKind: OwnerKind = { apiVersion: 'batch/v1', kind: 'CronJob', resource: cronJobs }

export const cronJobController: Controller = {
  name: 'cronjob',
  account: 'cronjob-controller',
  start(parts) {
    const { informers } = parts
    const found = informers.cronJobs()
    const jobs = informers.ownedJobs()
    const record = eventRecorder('cronjob-controller', ownerKind, parts)
    const pass = new CronPass(parts, ownerKind, record)
    const queue = queueFor('cronjob', parts, async (key) => {
      await jobs.synced
      return pass.run(key, index)
    })
    const index = new OwnerIndex(found, jobs, (key) => queue.add(key))
    found.listen({ changed: ({ namespace, name }) => queue.add(`${namespace}/${name}`) })
  },
}
