/** Table columns of CSIDriver. */
import type { Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

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
