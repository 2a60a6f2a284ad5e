/** The plugins that are on, in the order they run: what comes later sees what earlier ones did. */
import type { Authorizer } from '#access/authorize.ts'
import type { RbacAuthorizer } from '#access/authorize/rbac.ts'
import type { AdmissionPlugin } from './admission.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { priorityPlugin } from './priority.ts'
import { roleEscalation } from './role-escalation.ts'
import { type ServiceAccountOptions, serviceAccountPlugin } from './service-account.ts'
import { defaultStorageClass, storageObjectInUseProtection } from './storage-defaults.ts'
import { taintNodesByCondition } from './taint-nodes.ts'

export interface PluginOptions extends ServiceAccountOptions {
  readonly authorizer: Authorizer
  readonly rbac: RbacAuthorizer
}

export function pluginsInOrder(options: PluginOptions): AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    serviceAccountPlugin(options),
    taintNodesByCondition,
    priorityPlugin(options.release),
    defaultTolerationSeconds,
    defaultStorageClass,
    storageObjectInUseProtection,
    roleEscalation(options.authorizer, options.rbac),
  ]
}
