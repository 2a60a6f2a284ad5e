/** Table columns of StorageClass. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

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
