/**
 * What older releases showed of a kind: fewer columns, or only its name and age. The columns of the newest release are
 * the ones written down; the others are cut from them.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const loadAutoscaling = loadLater<typeof import('./autoscaling.ts')>(
  import.meta.url,
  './autoscaling',
)
const loadConfiguration = loadLater<typeof import('./configuration.ts')>(
  import.meta.url,
  './configuration',
)
const loadEvents = loadLater<typeof import('./events.ts')>(import.meta.url, './events')
const loadStorage = loadLater<typeof import('./storage.ts')>(import.meta.url, './storage')
const loadPods = loadLater<typeof import('./pods.ts')>(import.meta.url, './pods')

/** Columns of the releases before `before`: the given ones left out, none but those every object has, or others. */
interface Change {
  readonly before: number
  readonly without?: readonly string[] | 'everything'
  readonly instead?: () => TableColumns
}

const changes: Readonly<Record<string, readonly Change[]>> = {
  '/configmaps': [{ before: 16, instead: () => loadConfiguration().configMapColumnsBefore16 }],
  '/events': [
    { before: 16, instead: () => loadEvents().eventColumnsBefore16 },
    { before: 19, instead: () => loadEvents().eventColumnsBefore19 },
  ],
  '/persistentvolumeclaims': [
    { before: 22, instead: () => loadStorage().persistentVolumeClaimColumnsBefore22 },
  ],
  '/persistentvolumes': [
    { before: 22, instead: () => loadStorage().persistentVolumeColumnsBefore22 },
  ],
  '/pods': [{ before: 22, instead: () => loadPods().podColumnsBefore22 }],
  '/resourcequotas': [{ before: 18, without: 'everything' }],
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': [
    { before: 18, without: 'everything' },
  ],
  'admissionregistration.k8s.io/validatingwebhookconfigurations': [
    { before: 18, without: 'everything' },
  ],
  'autoscaling/horizontalpodautoscalers': [
    { before: 19, instead: () => loadAutoscaling().horizontalPodAutoscalerColumnsBefore19 },
  ],
  'certificates.k8s.io/certificatesigningrequests': [
    { before: 18, without: ['SignerName', 'RequestedDuration'] },
    { before: 22, without: ['RequestedDuration'] },
  ],
  'discovery.k8s.io/endpointslices': [{ before: 17, without: 'everything' }],
  'networking.k8s.io/ingresses': [{ before: 18, without: ['Class'] }],
  'extensions/ingresses': [{ before: 18, without: ['Class'] }],
  'node.k8s.io/runtimeclasses': [{ before: 18, without: 'everything' }],
  'storage.k8s.io/csidrivers': [
    { before: 18, without: 'everything' },
    { before: 21, without: ['StorageCapacity', 'TokenRequests', 'RequiresRepublish'] },
  ],
  'storage.k8s.io/csinodes': [{ before: 18, without: 'everything' }],
  'storage.k8s.io/storageclasses': [
    { before: 17, without: ['ReclaimPolicy', 'VolumeBindingMode', 'AllowVolumeExpansion'] },
  ],
}

/** Until this release the storage of these kinds could not make tables at all. */
const tablesSince: Readonly<Record<string, number>> = {
  '/componentstatuses': 17,
  'rbac.authorization.k8s.io/clusterrolebindings': 18,
  'rbac.authorization.k8s.io/clusterroles': 18,
  'rbac.authorization.k8s.io/rolebindings': 18,
  'rbac.authorization.k8s.io/roles': 18,
}

/** Nor could those ever that keep nothing: reviews and bindings are only sent. */
export const hasTables = (key: string, release: number, isStored: boolean): boolean =>
  release >= (tablesSince[key] ?? (isStored ? 0 : Number.POSITIVE_INFINITY))

/** `key`: group and plural, as in the table of behaviours. */
export function columnsOfRelease(
  key: string,
  release: number,
  newest: TableColumns | undefined,
): TableColumns | undefined {
  const change = changes[key]?.find(({ before }) => release < before)
  if (newest === undefined || change === undefined) return newest
  const { without = [], instead } = change
  if (instead !== undefined) return instead()
  return without === 'everything' ? undefined : leaveOut(newest, without)
}

function leaveOut(table: TableColumns, names: readonly string[]): TableColumns {
  const isKept = table.columns.map(({ name }) => !names.includes(name))
  return {
    ...table,
    columns: table.columns.filter((_, i) => isKept[i]),
    cells: (object: KubeObject, now: number) =>
      table.cells(object, now).filter((_, i) => isKept[i]),
  }
}
