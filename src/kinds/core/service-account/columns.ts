/** Table columns of ServiceAccount. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const serviceAccountColumns: TableColumns = {
  columns: [nameColumn, column('Secrets', 'Number of secrets it may use.'), ageColumn],
  cells: (object, now) => [object.metadata.name, (object.secrets ?? []).length, ageOf(object, now)],
}
