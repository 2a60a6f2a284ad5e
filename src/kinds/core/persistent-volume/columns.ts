/** Table columns of PersistentVolume. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { accessModes, classOf, phaseOf } from './shared-columns.ts'

export const persistentVolumeColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Capacity', 'How much it holds.'),
    column('Access Modes', 'How it can be mounted.'),
    column('Reclaim Policy', 'What becomes of it when its claim is gone.'),
    column('Status', 'Whether it is free, bound or released.'),
    column('Claim', 'The claim it is bound to.'),
    column('StorageClass', 'The class it belongs to.'),
    column('VolumeAttributesClass', 'The class of its attributes.'),
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
      spec.volumeAttributesClassName ?? '<unset>',
      object.status?.reason ?? '',
      ageOf(object, now),
      spec.volumeMode ?? '<unset>',
    ]
  },
}
