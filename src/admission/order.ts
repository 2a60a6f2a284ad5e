/** The plugins that are on, in the order they run: what comes later sees what earlier ones did. */
import type { AdmissionPlugin } from './admission.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { priorityPlugin } from './priority.ts'
import { type ServiceAccountOptions, serviceAccountPlugin } from './service-account.ts'
import { defaultStorageClass, storageObjectInUseProtection } from './storage-defaults.ts'
import { taintNodesByCondition } from './taint-nodes.ts'

export function pluginsInOrder(options: ServiceAccountOptions): AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    serviceAccountPlugin(options),
    taintNodesByCondition,
    priorityPlugin(options.release),
    defaultTolerationSeconds,
    defaultStorageClass,
    storageObjectInUseProtection,
  ]
}
