/** Rolls out Deployments: keeps their replica sets, their revisions and their status. */
import type { Controller } from '#controllers/controller.ts'
import { queueFor } from '#controllers/queue-for.ts'
import { deployments } from '#controllers/resources.ts'
import { eventRecorder } from '#controllers/workloads/event-recorder.ts'
import { OwnerIndex } from '#controllers/workloads/owner-index.ts'
import type { OwnerKind } from '#controllers/workloads/ownership.ts'
import { exceptReported } from '#controllers/workloads/reported-in-status.ts'
import { DeploymentPass } from './deployment-pass.ts'

const ownerKind: OwnerKind = { apiVersion: 'apps/v1', kind: 'Deployment', resource: deployments }
/** Replica sets change often while their pods begin. */
const pauseMs = 20

export const deploymentController: Controller = {
  name: 'deployment',
  account: 'deployment-controller',
  start(parts) {
    const { client, informers } = parts
    const found = informers.deployments()
    const sets = informers.replicaSets()
    const record = eventRecorder('deployment-controller', ownerKind, parts)
    const pass = new DeploymentPass(parts, { client, ownerKind, record })
    const report = exceptReported(parts.report)
    const queue = queueFor('deployment', { ...parts, report }, async (key) => {
      await sets.synced
      return pass.run(key, index)
    })
    const changed = (key: string) => queue.addAfter(key, pauseMs)
    const index = new OwnerIndex(found, sets, changed)
    found.listen({ changed: ({ namespace, name }) => queue.add(`${namespace}/${name}`) })
    // Where pods are recreated, a deployment waits for the end of the old ones.
    const deploymentOf = new Map<string, string>()
    sets.listen({
      changed: ({ uid, owner }) => deploymentOf.set(uid, owner),
      deleted: ({ uid }) => deploymentOf.delete(uid),
    })
    informers.ownedPods().listen({
      deleted: ({ owner }) => index.report(deploymentOf.get(owner) ?? ''),
    })
  },
}
