/** Keeps the pods and the status of ReplicationControllers. */
import { selectorOfPlainMap } from '#controllers/kept.ts'
import { replicationControllers } from '#controllers/resources.ts'
import { replicaManager } from './replica-manager.ts'

export const replicationController = replicaManager({
  controller: { name: 'replicationcontroller', account: 'replication-controller' },
  component: 'replication-controller',
  ownerKind: { apiVersion: 'v1', kind: 'ReplicationController', resource: replicationControllers },
  selectorOf: selectorOfPlainMap,
  owners: ({ informers }) => informers.replicationControllers(),
  hasTerminating: false,
})
