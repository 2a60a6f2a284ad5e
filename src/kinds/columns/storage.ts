/** Columns of volumes and what makes them. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn, wideColumn } from './column.ts'

const modeWords: [string, string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

const accessModes = (modes: string[] | undefined): string =>
  modeWords
    .filter(([mode]) => modes?.includes(mode))
    .map(([, word]) => word)
    .join(',')

const phaseOf = (object: KubeObject): string =>
  object.metadata.deletionTimestamp ? 'Terminating' : (object.status?.phase ?? '')

const classOf = (object: KubeObject): string =>
  ownValue(object.metadata.annotations, 'volume.beta.kubernetes.io/storage-class') ??
  object.spec?.storageClassName ??
  ''

export const persistentVolumeColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Capacity', 'How much it holds.'),
    column('Access Modes', 'How it can be mounted.'),
    column('Reclaim Policy', 'What becomes of it when its claim is gone.'),
    column('Status', 'Whether it is free, bound or released.'),
    column('Claim', 'The claim it is bound to.'),
    column('StorageClass', 'The class it belongs to.'),
    column('Reason', 'Why it failed.'),
    ageColumn,
    wideColumn('VolumeMode', 'File system or raw block.'),
  ],
  cells: (object, now) => {
    const spec = object.spec ?? {}
    const claim = spec.claimRef
    return [
      object.metadata.name,
      spec.capacity?.storage ?? '0',
      accessModes(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? '',
      phaseOf(object),
      claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '',
      classOf(object),
      object.status?.reason ?? '',
      ageOf(object, now),
      spec.volumeMode ?? '<unset>',
    ]
  },
}

export const persistentVolumeClaimColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Status', 'Whether it is bound.'),
    column('Volume', 'The volume it is bound to.'),
    column('Capacity', 'How much that volume holds.'),
    column('Access Modes', 'How that volume can be mounted.'),
    column('StorageClass', 'The class it asks for.'),
    ageColumn,
    wideColumn('VolumeMode', 'File system or raw block.'),
  ],
  cells: (object, now) => {
    const bound = Boolean(object.spec?.volumeName)
    return [
      object.metadata.name,
      phaseOf(object),
      object.spec?.volumeName ?? '',
      bound ? (object.status?.capacity?.storage ?? '0') : '',
      bound ? accessModes(object.status?.accessModes) : '',
      classOf(object),
      ageOf(object, now),
      object.spec?.volumeMode ?? '<unset>',
    ]
  },
}

/** Before 1.22 no release knew a mode for a single pod. */
const withoutOncePod = (newest: TableColumns): TableColumns => {
  const at = newest.columns.findIndex(({ name }) => name === 'Access Modes')
  return {
    ...newest,
    cells(object, now) {
      const cells = newest.cells(object, now)
      const words = String(cells[at]).split(',')
      return cells.with(at, words.filter((word) => word !== 'RWOP').join(','))
    },
  }
}
export const persistentVolumeColumnsBefore22 = withoutOncePod(persistentVolumeColumns)
export const persistentVolumeClaimColumnsBefore22 = withoutOncePod(persistentVolumeClaimColumns)

const defaultClassKeys = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

export const storageClassColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Provisioner', 'What makes its volumes.'),
    column('ReclaimPolicy', 'What becomes of a volume when its claim is gone.'),
    column('VolumeBindingMode', 'When a volume is made and bound.'),
    column('AllowVolumeExpansion', 'Whether volumes can grow.'),
    ageColumn,
  ],
  cells: (object, now) => {
    const annotations = object.metadata.annotations
    const isDefault = defaultClassKeys.some((key) => ownValue(annotations, key) === 'true')
    return [
      `${object.metadata.name}${isDefault ? ' (default)' : ''}`,
      object.provisioner ?? '',
      object.reclaimPolicy ?? 'Delete',
      object.volumeBindingMode ?? 'Immediate',
      object.allowVolumeExpansion ?? false,
      ageOf(object, now),
    ]
  },
}

export const volumeAttachmentColumns: TableColumns = {
  columns: [
    nameColumn,
    { ...column('Attacher', 'The driver that attaches it.'), format: 'name' },
    column('PV', 'The volume.'),
    column('Node', 'The node it is attached to.'),
    column('Attached', 'Whether it is attached now.', 'boolean'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.attacher ?? '',
    object.spec?.source?.persistentVolumeName ?? '',
    object.spec?.nodeName ?? '',
    object.status?.attached ?? false,
    ageOf(object, now),
  ],
}

export const csiNodeColumns: TableColumns = {
  columns: [nameColumn, column('Drivers', 'Number of drivers on the node.', 'integer'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    (object.spec?.drivers ?? []).length,
    ageOf(object, now),
  ],
}

export const csiDriverColumns: TableColumns = {
  columns: [
    nameColumn,
    column('AttachRequired', 'Whether volumes must be attached before use.', 'boolean'),
    column('PodInfoOnMount', 'Whether the driver is told about the pod.', 'boolean'),
    column('StorageCapacity', 'Whether free space is considered.', 'boolean'),
    column('TokenRequests', 'Audiences of the tokens it gets.'),
    column('RequiresRepublish', 'Whether it is called again and again.', 'boolean'),
    column('Modes', 'Which volumes it serves.'),
    ageColumn,
  ],
  cells: (object, now) => {
    const spec = object.spec ?? {}
    const tokens: Loose[] | undefined = spec.tokenRequests
    return [
      object.metadata.name,
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      tokens?.map((token) => token.audience ?? '').join(',') ?? '<unset>',
      spec.requiresRepublish ?? false,
      (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
      ageOf(object, now),
    ]
  },
}
