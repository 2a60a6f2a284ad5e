/** Table columns of PersistentVolumeClaim. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'
import { accessModes, classOf, phaseOf } from '#kinds/core/persistent-volume/shared-columns.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const persistentVolumeClaimColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Status', 'Whether it is bound.'),
    column('Volume', 'The volume it is bound to.'),
    column('Capacity', 'How much that volume holds.'),
    column('Access Modes', 'How that volume can be mounted.'),
    column('StorageClass', 'The class it asks for.'),
    column('VolumeAttributesClass', 'The class of attributes it asks for.'),
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
      object.spec?.volumeAttributesClassName ?? '<unset>',
      ageOf(object, now),
      object.spec?.volumeMode ?? '<unset>',
    ]
  },
}
