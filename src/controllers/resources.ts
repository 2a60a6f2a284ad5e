/** The resources controllers work on, each in the version they speak. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { ResourceRef } from '#client/client.ts'

const requestsAreStable = change('controllers use certificates.k8s.io/v1', { since: 19 })
const budgetsAreStable = change('controllers use disruption budgets of policy/v1', { since: 21 })

const core = (plural: string): ResourceRef => ({ group: '', version: 'v1', plural })

export const namespaces = core('namespaces')
export const serviceAccounts = core('serviceaccounts')
export const secrets = core('secrets')
export const configMaps = core('configmaps')
export const pods = core('pods')
export const nodes = core('nodes')
export const persistentVolumes = core('persistentvolumes')
export const persistentVolumeClaims = core('persistentvolumeclaims')
export const resourceQuotas = core('resourcequotas')
export const events = core('events')
export const services = core('services')
export const endpoints = core('endpoints')
export const replicationControllers = core('replicationcontrollers')
export const replicaSets: ResourceRef = { group: 'apps', version: 'v1', plural: 'replicasets' }
export const deployments: ResourceRef = { group: 'apps', version: 'v1', plural: 'deployments' }
export const endpointSlices: ResourceRef = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
}
export const jobs: ResourceRef = { group: 'batch', version: 'v1', plural: 'jobs' }
export const cronJobs: ResourceRef = { group: 'batch', version: 'v1', plural: 'cronjobs' }
export const clusterRoles: ResourceRef = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
}
export const serviceCidrs: ResourceRef = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'servicecidrs',
}
export const volumeAttributesClasses: ResourceRef = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'volumeattributesclasses',
}
export const storageMigrations: ResourceRef = {
  group: 'storagemigration.k8s.io',
  version: 'v1',
  plural: 'storageversionmigrations',
}
export const customResourceDefinitions: ResourceRef = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
}
export const ipAddresses: ResourceRef = { ...serviceCidrs, plural: 'ipaddresses' }
export const validatingPolicies: ResourceRef = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingadmissionpolicies',
}
export const accessReviews: ResourceRef = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
}

/** Certificate requests: v1 from 1.19 on, the beta before. */
export const certificateRequests = (release: number): ResourceRef => ({
  group: 'certificates.k8s.io',
  version: releaseOf(release).has(requestsAreStable) ? 'v1' : 'v1beta1',
  plural: 'certificatesigningrequests',
})

/** Disruption budgets: v1 from 1.21 on, the beta before. */
export const disruptionBudgets = (release: number): ResourceRef => ({
  group: 'policy',
  version: releaseOf(release).has(budgetsAreStable) ? 'v1' : 'v1beta1',
  plural: 'poddisruptionbudgets',
})
