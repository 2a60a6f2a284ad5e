/** Keeps the pods and the status of ReplicaSets. */
import { selectorOfWorkload } from '#controllers/kept.ts'
import { replicaSets } from '#controllers/resources.ts'
import { replicaManager } from './replica-manager.ts'

export const replicaSetController = replicaManager({
  controller: { name: 'replicaset', account: 'replicaset-controller' },
  component: 'replicaset-controller',
  ownerKind: { apiVersion: 'apps/v1', kind: 'ReplicaSet', resource: replicaSets },
  selectorOf: selectorOfWorkload,
  owners: ({ informers }) => informers.replicaSets(),
  hasTerminating: true,
})
