/**
 * How the kinds differ when they are deleted: rows, for everything that is not in the object
 * itself.
 */
import { type ReleaseChange, change, type Release } from '#api/releases/change.ts'
import type { Kind } from './kind.ts'

/** DELETE of these answers with the object that was removed instead of a Status. */
const answersObject = new Set([
  '/namespaces',
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/serviceaccounts',
  'policy/podsecuritypolicies',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/devicetaintrules',
  'resource.k8s.io/podschedulingcontexts',
  'resource.k8s.io/podschedulings',
  'resource.k8s.io/resourceclaimparameters',
  'resource.k8s.io/resourceclaims',
  'resource.k8s.io/resourceclaimtemplates',
  'resource.k8s.io/resourceclasses',
  'resource.k8s.io/resourceclassparameters',
  'resource.k8s.io/resourcepoolstatusrequests',
  'resource.k8s.io/resourceslices',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
])

/** The same in some releases only. */
const answersObjectIn: Readonly<Record<string, ReleaseChange>> = {
  '/services': change('DELETE of a service answers the service', { since: 23 }),
}

/** Versions that answer with a Status, although older versions answer with the object. */
const answersStatusAs: Readonly<Record<string, readonly string[]>> = {
  'resource.k8s.io/devicetaintrules': ['resource.k8s.io/v1'],
}

/** Versions in which a DELETE without propagationPolicy orphans dependents. */
const orphansByDefault: Readonly<Record<string, readonly string[]>> = {
  '/replicationcontrollers': ['v1'],
  'apps/daemonsets': ['extensions/v1beta1', 'apps/v1beta2'],
  'apps/deployments': ['extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2'],
  'apps/replicasets': ['extensions/v1beta1', 'apps/v1beta2'],
  'apps/statefulsets': ['apps/v1beta1', 'apps/v1beta2'],
  'batch/cronjobs': ['batch/v1beta1', 'batch/v2alpha1'],
  'batch/jobs': ['batch/v1'],
}

const rowOf = ({ resource }: Kind) => `${resource.group}/${resource.plural}`

export function answersDeletedObject(kind: Kind, release: Release): boolean {
  const row = rowOf(kind)
  if (answersStatusAs[row]?.includes(kind.apiVersion)) return false
  const since = answersObjectIn[row]
  return since === undefined ? answersObject.has(row) : release.has(since)
}

/**
 * Whether deleting a service returns a Status even if finalizers delay the deletion. This applies
 * to releases that do not return the deleted object.
 */
export const answersStatusWhenHeld = (kind: Kind, release: Release): boolean =>
  rowOf(kind) === '/services' && !answersDeletedObject(kind, release)

/** The default propagation policy of a kind. 'Unsupported' means that policies are ignored. */
export function defaultPropagation(kind: Kind): 'Orphan' | 'Background' | 'Unsupported' {
  const row = rowOf(kind)
  if (row === '/events' || row === 'events.k8s.io/events') return 'Unsupported'
  return orphansByDefault[row]?.includes(kind.apiVersion) ? 'Orphan' : 'Background'
}

const orphanedPodsWarn = change('deleting a job without a propagation policy causes a warning', {
  since: 23,
})

/** Warnings for a DELETE without propagationPolicy. */
export function unspecifiedPropagationWarnings(kind: Kind, release: Release): string[] {
  const orphansPods = rowOf(kind) === 'batch/jobs' && defaultPropagation(kind) === 'Orphan'
  if (!orphansPods || !release.has(orphanedPodsWarn)) return []
  return [
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  ]
}
