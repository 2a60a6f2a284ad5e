/** Every defaulter by the OpenAPI name of its type. */
import { accessDefaults } from './access.ts'
import { appsDefaults } from './apps.ts'
import { autoscalingDefaults } from './autoscaling.ts'
import { batchDefaults } from './batch.ts'
import { clusterDefaults } from './cluster.ts'
import { podDefaults } from './core-pods.ts'
import type { Defaulters } from './defaulter.ts'
import { extensionDefaults } from './extensions.ts'
import { networkingDefaults } from './networking.ts'
import { registrationDefaults } from './registration.ts'
import { serviceDefaults } from './services.ts'
import { storageDefaults } from './storage.ts'

export const defaults: Defaulters = {
  ...accessDefaults,
  ...appsDefaults,
  ...autoscalingDefaults,
  ...batchDefaults,
  ...clusterDefaults,
  ...networkingDefaults,
  ...podDefaults,
  ...registrationDefaults,
  ...serviceDefaults,
  ...storageDefaults,
  ...extensionDefaults,
}
