/**
 * All controllers by name. Those that are off by default are loaded only when `--controllers` names
 * them.
 */
import { bootstrapSigner } from './bootstrap-signer/bootstrap-signer.ts'
import { certificateApproving } from './certificates/approving.ts'
import { certificateCleaning } from './certificates/cleaning.ts'
import { certificateSigning } from './certificates/signing.ts'
import type { Controller } from './controller.ts'
import { disruptionController } from './disruption/disruption.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { finishedJobs } from './jobs/finished-jobs.ts'
import type { ControllerName } from './names.ts'
import { namespaceController } from './namespace/namespace.ts'
import { podCollector } from './pods/pod-collector.ts'
import { policyTypeChecking } from './policy-type-checking/policy-type-checking.ts'
import { quotaController } from './resource-quota/resource-quota.ts'
import { roleAggregation } from './role-aggregation/role-aggregation.ts'
import { rootCertificatePublisher } from './root-ca/publisher.ts'
import { serviceAccountController } from './service-account/accounts.ts'
import { tokenController } from './service-account/tokens.ts'
import { serviceCidrController } from './service-cidrs/service-cidrs.ts'
import { storageMigration } from './storage-migration/storage-migration.ts'
import { legacyTokenCleaner } from './token-cleaner/legacy-token-cleaner.ts'
import { tokenCleaner } from './token-cleaner/token-cleaner.ts'
import { attributesClassProtection } from './volume-protection/class-protection.ts'
import { claimProtection, volumeProtection } from './volume-protection/volume-protection.ts'

type Loader = Controller | (() => Promise<Controller>)

const controllers: Readonly<Record<ControllerName, Loader>> = {
  namespace: namespaceController,
  serviceaccount: serviceAccountController,
  'serviceaccount-token': tokenController,
  'root-ca-cert-publisher': rootCertificatePublisher,
  garbagecollector: garbageCollector,
  'clusterrole-aggregation': roleAggregation,
  resourcequota: quotaController,
  csrapproving: certificateApproving,
  csrsigning: certificateSigning,
  csrcleaner: certificateCleaning,
  tokencleaner: tokenCleaner,
  'pvc-protection': claimProtection,
  'pv-protection': volumeProtection,
  podgc: podCollector,
  disruption: disruptionController,
  bootstrapsigner: bootstrapSigner,
  'ttl-after-finished': finishedJobs,
  'validatingadmissionpolicy-status-controller': policyTypeChecking,
  'service-cidr-controller': serviceCidrController,
  'volumeattributesclass-protection-controller': attributesClassProtection,
  'legacy-serviceaccount-token-cleaner-controller': legacyTokenCleaner,
  'storage-version-migrator-controller': storageMigration,
  replicaset: async () => (await import('./replicaset/replicaset.ts')).replicaSetController,
  deployment: async () => (await import('./deployment/deployment.ts')).deploymentController,
  replicationcontroller: async () =>
    (await import('./replicaset/replicationcontroller.ts')).replicationController,
  cronjob: async () => (await import('./cronjobs/cronjob.ts')).cronJobController,
  endpoint: async () => (await import('./endpoints/endpoint.ts')).endpointController,
  endpointslice: async () => (await import('./endpoints/endpointslice.ts')).endpointSliceController,
  endpointslicemirroring: async () =>
    (await import('./endpoints/endpointslicemirroring.ts')).endpointSliceMirroring,
}

export const loadControllers = (names: readonly ControllerName[]): Promise<Controller[]> =>
  Promise.all(
    names.map((name) => {
      const found = controllers[name]
      return typeof found === 'function' ? found() : found
    }),
  )
