/**
 * Every built-in kind that has rules, one row each. Its rules are loaded with its first object, so
 * the server's memory has only rules of used kinds. A row contains what is needed before that.
 */
import { type ReleaseChange, change } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import type { KindRules } from './kind-rules.ts'

export interface KindRow {
  /** '' for the core group. */
  readonly group: string
  readonly plural: string
  /** Under src/kinds: `apps/deployment` holds `deployment.ts`, which exports `deployment`. */
  readonly folder: string
  /** The version in which rules run, if it differs from the stored version. */
  readonly hub?: string
  /**
   * The hub version in releases without the version above. Releases that have neither use the
   * stored version.
   */
  readonly olderHub?: string
  /**
   * Whether the kind has its own selectable fields. Without them the rules need not be loaded to
   * read the store.
   */
  readonly selectsByFields?: true
  /** Releases without this change cannot show the kind as a table. */
  readonly tablesSince?: ReleaseChange
}

const componentTables = change('component statuses can be listed as tables', { since: 17 })
const rbacTables = change('roles and role bindings can be listed as tables', { since: 18 })

export const kindRows: readonly KindRow[] = [
  {
    group: 'certificates.k8s.io',
    plural: 'clustertrustbundles',
    folder: 'certificates/cluster-trust-bundle',
    selectsByFields: true,
  },
  {
    group: 'certificates.k8s.io',
    plural: 'podcertificaterequests',
    folder: 'certificates/pod-certificate-request',
    selectsByFields: true,
  },
  {
    group: 'storagemigration.k8s.io',
    plural: 'storageversionmigrations',
    folder: 'storagemigration/storage-version-migration',
  },
  { group: 'networking.k8s.io', plural: 'ipaddresses', folder: 'networking/ip-address' },
  { group: 'networking.k8s.io', plural: 'servicecidrs', folder: 'networking/service-cidr' },
  {
    group: 'storage.k8s.io',
    plural: 'volumeattributesclasses',
    folder: 'storage/volume-attributes-class',
  },
  {
    group: '',
    plural: 'componentstatuses',
    folder: 'core/component-status',
    tablesSince: componentTables,
  },
  { group: '', plural: 'configmaps', folder: 'core/config-map' },
  { group: '', plural: 'endpoints', folder: 'core/endpoints' },
  { group: '', plural: 'events', folder: 'core/event', hub: 'v1', selectsByFields: true },
  { group: '', plural: 'limitranges', folder: 'core/limit-range' },
  { group: '', plural: 'namespaces', folder: 'core/namespace', selectsByFields: true },
  { group: '', plural: 'nodes', folder: 'core/node', selectsByFields: true },
  { group: '', plural: 'persistentvolumeclaims', folder: 'core/persistent-volume-claim' },
  { group: '', plural: 'persistentvolumes', folder: 'core/persistent-volume' },
  { group: '', plural: 'pods', folder: 'core/pod', selectsByFields: true },
  { group: '', plural: 'podtemplates', folder: 'core/pod-template' },
  {
    group: '',
    plural: 'replicationcontrollers',
    folder: 'core/replication-controller',
    selectsByFields: true,
  },
  { group: '', plural: 'resourcequotas', folder: 'core/resource-quota' },
  { group: '', plural: 'secrets', folder: 'core/secret', selectsByFields: true },
  { group: '', plural: 'serviceaccounts', folder: 'core/service-account' },
  { group: '', plural: 'services', folder: 'core/service' },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'mutatingadmissionpolicies',
    folder: 'admissionregistration/mutating-admission-policy',
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'mutatingadmissionpolicybindings',
    folder: 'admissionregistration/mutating-admission-policy-binding',
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingadmissionpolicies',
    folder: 'admissionregistration/validating-admission-policy',
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingadmissionpolicybindings',
    folder: 'admissionregistration/validating-admission-policy-binding',
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'mutatingwebhookconfigurations',
    folder: 'admissionregistration/mutating-webhook-configuration',
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingwebhookconfigurations',
    folder: 'admissionregistration/validating-webhook-configuration',
  },
  {
    group: 'apiextensions.k8s.io',
    plural: 'customresourcedefinitions',
    folder: 'apiextensions/custom-resource-definition',
    hub: 'apiextensions.k8s.io/v1',
  },
  { group: 'apiregistration.k8s.io', plural: 'apiservices', folder: 'apiregistration/api-service' },
  { group: 'apps', plural: 'controllerrevisions', folder: 'apps/controller-revision' },
  { group: 'apps', plural: 'daemonsets', folder: 'apps/daemon-set' },
  { group: 'apps', plural: 'deployments', folder: 'apps/deployment' },
  { group: 'apps', plural: 'replicasets', folder: 'apps/replica-set' },
  { group: 'apps', plural: 'statefulsets', folder: 'apps/stateful-set' },
  {
    group: 'auditregistration.k8s.io',
    plural: 'auditsinks',
    folder: 'auditregistration/audit-sink',
  },
  {
    group: 'autoscaling',
    plural: 'horizontalpodautoscalers',
    folder: 'autoscaling/horizontal-pod-autoscaler',
    hub: 'autoscaling/v2',
    olderHub: 'autoscaling/v2beta2',
  },
  { group: 'batch', plural: 'cronjobs', folder: 'batch/cron-job', hub: 'batch/v1' },
  { group: 'batch', plural: 'jobs', folder: 'batch/job', selectsByFields: true },
  {
    group: 'certificates.k8s.io',
    plural: 'certificatesigningrequests',
    folder: 'certificates/certificate-signing-request',
    selectsByFields: true,
  },
  {
    group: 'coordination.k8s.io',
    plural: 'leasecandidates',
    folder: 'coordination/lease-candidate',
  },
  { group: 'coordination.k8s.io', plural: 'leases', folder: 'coordination/lease' },
  {
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    folder: 'discovery/endpoint-slice',
    hub: 'discovery.k8s.io/v1',
  },
  {
    group: 'events.k8s.io',
    plural: 'events',
    folder: 'core/event',
    hub: 'v1',
    selectsByFields: true,
  },
  {
    group: 'flowcontrol.apiserver.k8s.io',
    plural: 'flowschemas',
    folder: 'flowcontrol/flow-schema',
  },
  {
    group: 'flowcontrol.apiserver.k8s.io',
    plural: 'prioritylevelconfigurations',
    folder: 'flowcontrol/priority-level-configuration',
    hub: 'flowcontrol.apiserver.k8s.io/v1',
    olderHub: 'flowcontrol.apiserver.k8s.io/v1beta3',
  },
  {
    group: 'internal.apiserver.k8s.io',
    plural: 'storageversions',
    folder: 'internal-apiserver/storage-version',
  },
  { group: 'lifecycle.k8s.io', plural: 'evictionrequests', folder: 'lifecycle/eviction-request' },
  { group: 'lifecycle.k8s.io', plural: 'evictions', folder: 'lifecycle/eviction' },
  { group: 'networking.k8s.io', plural: 'ingressclasses', folder: 'networking/ingress-class' },
  {
    group: 'networking.k8s.io',
    plural: 'ingresses',
    folder: 'networking/ingress',
    hub: 'networking.k8s.io/v1',
  },
  { group: 'networking.k8s.io', plural: 'networkpolicies', folder: 'networking/network-policy' },
  { group: 'node.k8s.io', plural: 'runtimeclasses', folder: 'node/runtime-class' },
  {
    group: 'policy',
    plural: 'poddisruptionbudgets',
    folder: 'policy/pod-disruption-budget',
    hub: 'policy/v1',
  },
  { group: 'policy', plural: 'podsecuritypolicies', folder: 'policy/pod-security-policy' },
  { group: 'resource.k8s.io', plural: 'deviceclasses', folder: 'resource/device-class' },
  { group: 'resource.k8s.io', plural: 'devicetaintrules', folder: 'resource/device-taint-rule' },
  {
    group: 'resource.k8s.io',
    plural: 'resourceclaims',
    folder: 'resource/resource-claim',
    hub: 'resource.k8s.io/v1',
  },
  {
    group: 'resource.k8s.io',
    plural: 'resourceclaimtemplates',
    folder: 'resource/resource-claim-template',
    hub: 'resource.k8s.io/v1',
  },
  {
    group: 'resource.k8s.io',
    plural: 'resourcepoolstatusrequests',
    folder: 'resource/resource-pool-status-request',
  },
  {
    group: 'resource.k8s.io',
    plural: 'resourceslices',
    folder: 'resource/resource-slice',
    hub: 'resource.k8s.io/v1',
    selectsByFields: true,
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'clusterrolebindings',
    folder: 'rbac/cluster-role-binding',
    tablesSince: rbacTables,
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'clusterroles',
    folder: 'rbac/cluster-role',
    tablesSince: rbacTables,
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'rolebindings',
    folder: 'rbac/role-binding',
    tablesSince: rbacTables,
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'roles',
    folder: 'rbac/role',
    tablesSince: rbacTables,
  },
  {
    group: 'scheduling.k8s.io',
    plural: 'compositepodgroups',
    folder: 'scheduling/composite-pod-group',
  },
  { group: 'scheduling.k8s.io', plural: 'podgroups', folder: 'scheduling/pod-group' },
  { group: 'scheduling.k8s.io', plural: 'workloads', folder: 'scheduling/workload' },
  { group: 'scheduling.k8s.io', plural: 'priorityclasses', folder: 'scheduling/priority-class' },
  { group: 'settings.k8s.io', plural: 'podpresets', folder: 'settings/pod-preset' },
  { group: 'storage.k8s.io', plural: 'csidrivers', folder: 'storage/csi-driver' },
  { group: 'storage.k8s.io', plural: 'csinodes', folder: 'storage/csi-node' },
  {
    group: 'storage.k8s.io',
    plural: 'csistoragecapacities',
    folder: 'storage/csi-storage-capacity',
  },
  { group: 'storage.k8s.io', plural: 'storageclasses', folder: 'storage/storage-class' },
  { group: 'storage.k8s.io', plural: 'volumeattachments', folder: 'storage/volume-attachment' },
  // The first group of these kinds. These rows are used if the newer group is disabled.
  { group: 'extensions', plural: 'daemonsets', folder: 'apps/daemon-set' },
  { group: 'extensions', plural: 'deployments', folder: 'apps/deployment' },
  {
    group: 'extensions',
    plural: 'ingresses',
    folder: 'networking/ingress',
    hub: 'networking.k8s.io/v1',
  },
  { group: 'extensions', plural: 'networkpolicies', folder: 'networking/network-policy' },
  { group: 'extensions', plural: 'podsecuritypolicies', folder: 'policy/pod-security-policy' },
  { group: 'extensions', plural: 'replicasets', folder: 'apps/replica-set' },
]

const rowOf = new Map(kindRows.map((row) => [`${row.group}/${row.plural}`, row]))

export const kindRowOf = (group: string, plural: string): KindRow | undefined =>
  rowOf.get(`${group}/${plural}`)

/**
 * The path and export name of a folder's rules: `./apps/stateful-set/stateful-set` and
 * `statefulSet`.
 */
export function placeOf(folder: string): { path: string; name: string } {
  const file = folder.slice(folder.indexOf('/') + 1)
  const name = file.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return { path: `./${folder}/${file}`, name }
}

const loaders = new Map<string, () => Readonly<Record<string, KindRules>>>()

/** The rules of a kind folder, loaded at the first call. */
export function rulesIn(folder: string): KindRules {
  const { path, name } = placeOf(folder)
  let load = loaders.get(folder)
  if (load === undefined) {
    load = loadLater(import.meta.url, path)
    loaders.set(folder, load)
  }
  return load()[name] as KindRules
}
