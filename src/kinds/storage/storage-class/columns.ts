/** Table columns of StorageClass. */
import { byCodePoint } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const defaultClassKeys = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

const hasDefaultMark = ({ metadata }: KubeObject): boolean =>
  defaultClassKeys.some((key) => ownValue(metadata.annotations, key) === 'true')

const columnsWith = (isDefault: (object: KubeObject) => boolean): TableColumns => ({
  columns: [
    nameColumn,
    column('Provisioner', 'What makes its volumes.'),
    column('ReclaimPolicy', 'What becomes of a volume when its claim is gone.'),
    column('VolumeBindingMode', 'When a volume is made and bound.'),
    column('AllowVolumeExpansion', 'Whether volumes can grow.'),
    ageColumn,
  ],
  cells: (object, now) => [
    `${object.metadata.name}${isDefault(object) ? ' (default)' : ''}`,
    object.provisioner ?? '',
    object.reclaimPolicy ?? 'Delete',
    object.volumeBindingMode ?? 'Immediate',
    object.allowVolumeExpansion ?? false,
    ageOf(object, now),
  ],
})

/** Up to 1.36 every class that is marked as the default is shown as the default. */
export const markedStorageClassColumns = columnsWith(hasDefaultMark)

const createdAt = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? ''

/** Claims get the newest class that is marked, and the first by name of those of one second. */
function defaultOf(classes: readonly KubeObject[]): KubeObject | undefined {
  let found: KubeObject | undefined
  for (const one of classes) {
    if (!hasDefaultMark(one)) continue
    const isNewer = found === undefined || createdAt(one) > createdAt(found)
    const isFirst =
      found !== undefined &&
      createdAt(one) === createdAt(found) &&
      byCodePoint(one.metadata.name ?? '', found.metadata.name ?? '') < 0
    if (isNewer || isFirst) found = one
  }
  return found
}

/** Only a list shows which class is the default. */
export const storageClassColumns: TableColumns = {
  ...columnsWith(() => false),
  ofList(classes) {
    const name = defaultOf(classes)?.metadata.name
    return columnsWith(({ metadata }) => metadata.name === name)
  },
}
