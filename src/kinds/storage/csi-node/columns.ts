/** Table columns of CSINode. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const csiNodeColumns: TableColumns = {
  columns: [nameColumn, column('Drivers', 'Number of drivers on the node.', 'integer'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    (object.spec?.drivers ?? []).length,
    ageOf(object, now),
  ],
}
