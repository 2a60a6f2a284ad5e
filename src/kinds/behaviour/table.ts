/**
 * Every behaviour by group and plural; the core group is the empty word: '/services'. The rules of a folder are loaded
 * when the first of its kinds is used: a server holds only what its clients ask for.
 */
import { loadLater } from '#base/load-later.ts'
import { columnsOfRelease } from '#kinds/columns/by-release.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkFinalizerNames } from './metadata.ts'

type Behaviours = Readonly<Record<string, Behaviour>>

/** Kinds whose finalizers may have any qualified name. */
const anyFinalizer = new Set([
  '/events',
  'events.k8s.io/events',
  'coordination.k8s.io/leases',
  'node.k8s.io/runtimeclasses',
  'policy/poddisruptionbudgets',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiregistration.k8s.io/apiservices',
  'auditregistration.k8s.io/auditsinks',
  'apiextensions.k8s.io/customresourcedefinitions',
])

function withFinalizerNames(behaviour: Behaviour): Behaviour {
  const { validateCreate } = behaviour
  return {
    ...behaviour,
    validateCreate: (object, context) => [
      ...checkFinalizerNames(object),
      ...(validateCreate?.(object, context) ?? []),
    ],
  }
}

/** By itself: every start reads namespaces, and few of the others. */
const loadNamespace = loadLater<typeof import('./cluster/namespace.ts')>(
  import.meta.url,
  './cluster/namespace',
)

/** What only releases up to this one ask. */
const sctpGateUntil = 19
const loadSctp = loadLater<typeof import('./sctp.ts')>(import.meta.url, './sctp')

type Folder = readonly [load: () => Behaviours, resources: readonly string[]]

/** Each folder's table, and the resources in it. */
export const folders: readonly Folder[] = [
  [
    folder<typeof import('./autoscaling/table.ts'), 'autoscalingBehaviours'>(
      'autoscaling',
      'autoscalingBehaviours',
    ),
    ['autoscaling/horizontalpodautoscalers'],
  ],
  [
    folder<typeof import('./certificates/table.ts'), 'certificateBehaviours'>(
      'certificates',
      'certificateBehaviours',
    ),
    ['certificates.k8s.io/certificatesigningrequests'],
  ],
  [
    folder<typeof import('./cluster/table.ts'), 'clusterBehaviours'>(
      'cluster',
      'clusterBehaviours',
    ),
    [
      '/componentstatuses',
      '/configmaps',
      '/limitranges',
      '/nodes',
      '/resourcequotas',
      '/secrets',
      '/serviceaccounts',
      'coordination.k8s.io/leases',
      'internal.apiserver.k8s.io/storageversions',
      'scheduling.k8s.io/priorityclasses',
    ],
  ],
  [() => ({ '/namespaces': loadNamespace().namespace }), ['/namespaces']],
  [
    folder<typeof import('./events/table.ts'), 'eventBehaviours'>('events', 'eventBehaviours'),
    ['/events', 'events.k8s.io/events'],
  ],
  [
    folder<typeof import('./extensions/table.ts'), 'extensionBehaviours'>(
      'extensions',
      'extensionBehaviours',
    ),
    ['apiextensions.k8s.io/customresourcedefinitions'],
  ],
  [
    folder<typeof import('./flowcontrol/table.ts'), 'flowcontrolBehaviours'>(
      'flowcontrol',
      'flowcontrolBehaviours',
    ),
    [
      'flowcontrol.apiserver.k8s.io/flowschemas',
      'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
    ],
  ],
  [
    folder<typeof import('./networking/table.ts'), 'networkingBehaviours'>(
      'networking',
      'networkingBehaviours',
    ),
    [
      'networking.k8s.io/ingressclasses',
      'networking.k8s.io/ingresses',
      'networking.k8s.io/networkpolicies',
    ],
  ],
  [
    folder<typeof import('./node/table.ts'), 'nodeBehaviours'>('node', 'nodeBehaviours'),
    ['node.k8s.io/runtimeclasses'],
  ],
  [
    folder<typeof import('./pods/table.ts'), 'podBehaviours'>('pods', 'podBehaviours'),
    ['/pods', '/podtemplates', 'settings.k8s.io/podpresets'],
  ],
  [
    folder<typeof import('./policy/table.ts'), 'policyBehaviours'>('policy', 'policyBehaviours'),
    ['policy/poddisruptionbudgets', 'policy/podsecuritypolicies'],
  ],
  [
    folder<typeof import('./rbac/table.ts'), 'rbacBehaviours'>('rbac', 'rbacBehaviours'),
    [
      'rbac.authorization.k8s.io/clusterrolebindings',
      'rbac.authorization.k8s.io/clusterroles',
      'rbac.authorization.k8s.io/rolebindings',
      'rbac.authorization.k8s.io/roles',
    ],
  ],
  [
    folder<typeof import('./registration/table.ts'), 'registrationBehaviours'>(
      'registration',
      'registrationBehaviours',
    ),
    [
      'admissionregistration.k8s.io/mutatingwebhookconfigurations',
      'admissionregistration.k8s.io/validatingwebhookconfigurations',
      'apiregistration.k8s.io/apiservices',
      'auditregistration.k8s.io/auditsinks',
    ],
  ],
  [
    folder<typeof import('./services/table.ts'), 'serviceBehaviours'>(
      'services',
      'serviceBehaviours',
    ),
    ['/endpoints', '/services', 'discovery.k8s.io/endpointslices'],
  ],
  [
    folder<typeof import('./storage/table.ts'), 'storageBehaviours'>(
      'storage',
      'storageBehaviours',
    ),
    [
      '/persistentvolumeclaims',
      '/persistentvolumes',
      'storage.k8s.io/csidrivers',
      'storage.k8s.io/csinodes',
      'storage.k8s.io/csistoragecapacities',
      'storage.k8s.io/storageclasses',
      'storage.k8s.io/volumeattachments',
    ],
  ],
  [
    folder<typeof import('./workloads/table.ts'), 'workloadBehaviours'>(
      'workloads',
      'workloadBehaviours',
    ),
    [
      '/replicationcontrollers',
      'apps/controllerrevisions',
      'apps/daemonsets',
      'apps/deployments',
      'apps/replicasets',
      'apps/statefulsets',
      'batch/cronjobs',
      'batch/jobs',
    ],
  ],
]

function folder<Module extends Record<Name, Behaviours>, Name extends string>(
  path: string,
  name: Name,
) {
  const load = loadLater<Module>(import.meta.url, `./${path}/table`)
  return (): Behaviours => load()[name]
}

const folderOf = new Map(
  folders.flatMap(([load, resources]) => resources.map((key) => [key, load])),
)

/** Pods, workloads and CSI drivers check the names of finalizers themselves, in their own order or release. */
const ownFinalizerNames = new Set([
  '/pods',
  '/podtemplates',
  'storage.k8s.io/csidrivers',
  ...folders[folders.length - 1][1],
])

function baseBehaviour(key: string): Behaviour | undefined {
  const behaviour = folderOf.get(key)?.()[key]
  if (behaviour === undefined || anyFinalizer.has(key) || ownFinalizerNames.has(key))
    return behaviour
  return withFinalizerNames(behaviour)
}

/** Resources with fields of their own to select by: for the others no behaviour is loaded to read what is stored. */
export const withSelectableFields: ReadonlySet<string> = new Set([
  '/events',
  '/namespaces',
  '/nodes',
  '/pods',
  '/replicationcontrollers',
  '/secrets',
  'batch/jobs',
  'certificates.k8s.io/certificatesigningrequests',
  'events.k8s.io/events',
])

function behaviourIn(key: string, release: number): Behaviour | undefined {
  const behaviour = baseBehaviour(key)
  if (behaviour === undefined || release > sctpGateUntil) return behaviour
  return loadSctp().withSctpRules(behaviour, key)
}

/** The behaviour of a resource as a release had it, in its rules and in its columns. */
export function behaviourOf(key: string, release: number): Behaviour | undefined {
  const behaviour = behaviourIn(key, release)
  const columns = columnsOfRelease(key, release, behaviour?.columns)
  if (behaviour === undefined || columns === behaviour.columns) return behaviour
  const { columns: _newest, ...rest } = behaviour
  return columns === undefined ? rest : { ...rest, columns }
}
