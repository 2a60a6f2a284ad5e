/** The behaviours of the kinds that run pods, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { controllerRevision } from './controller-revision.ts'
import { cronJob } from './cron-job.ts'
import { daemonSet } from './daemon-set.ts'
import { deployment } from './deployment.ts'
import { job } from './job.ts'
import { replicaSet, replicationController } from './replica-set.ts'
import { statefulSet } from './stateful-set.ts'

export const workloadBehaviours: Readonly<Record<string, Behaviour>> = {
  '/replicationcontrollers': replicationController,
  'apps/controllerrevisions': controllerRevision,
  'apps/daemonsets': daemonSet,
  'apps/deployments': deployment,
  'apps/replicasets': replicaSet,
  'apps/statefulsets': statefulSet,
  'batch/cronjobs': cronJob,
  'batch/jobs': job,
}
