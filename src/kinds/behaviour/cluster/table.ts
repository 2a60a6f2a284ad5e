/** The behaviours of what a cluster keeps besides workloads, services and volumes, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { componentStatus } from './component-status.ts'
import { configMap } from './config-map.ts'
import { lease } from './lease.ts'
import { limitRange } from './limit-range.ts'
import { node } from './node.ts'
import { priorityClass } from './priority-class.ts'
import { resourceQuota } from './resource-quota.ts'
import { secret } from './secret.ts'
import { serviceAccount } from './service-account.ts'
import { storageVersion } from './storage-version.ts'

export const clusterBehaviours: Readonly<Record<string, Behaviour>> = {
  '/componentstatuses': componentStatus,
  '/configmaps': configMap,
  '/limitranges': limitRange,
  '/nodes': node,
  '/resourcequotas': resourceQuota,
  '/secrets': secret,
  '/serviceaccounts': serviceAccount,
  'coordination.k8s.io/leases': lease,
  'scheduling.k8s.io/priorityclasses': priorityClass,
  'internal.apiserver.k8s.io/storageversions': storageVersion,
}
