/** Table columns of Secret. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { countOf } from '#kinds/all-kinds/count-of.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const secretColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Type', 'What the secret is for.'),
    column('Data', 'Number of keys.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.type ?? '',
    countOf(object.data),
    ageOf(object, now),
  ],
}
