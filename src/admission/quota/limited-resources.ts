/**
 * The configuration of the ResourceQuota plugin: resources that can be used only if a quota covers
 * them.
 */
import type { Loose } from '#api/object-meta.ts'
import type { LimitedResource } from './check.ts'

const versions = [
  'apiserver.config.k8s.io/v1',
  'resourcequota.admission.k8s.io/v1beta1',
  'resourcequota.admission.k8s.io/v1alpha1',
]
const kinds = ['ResourceQuotaConfiguration', 'Configuration']

export function limitedResources(configuration: Loose | undefined): LimitedResource[] {
  if (configuration === undefined) return []
  const { apiVersion = '', kind = '' } = configuration
  if (!versions.includes(apiVersion) || !kinds.includes(kind)) {
    throw new Error(`no kind "${kind}" is registered for version "${apiVersion}"`)
  }
  return ((configuration.limitedResources ?? []) as Loose[]).map((one) => ({
    apiGroup: one.apiGroup ?? '',
    resource: one.resource ?? '',
    matchContains: one.matchContains ?? [],
    matchScopes: one.matchScopes ?? [],
  }))
}
