/** Table columns of VolumeAttachment. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

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
