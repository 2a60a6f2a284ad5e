/** Table columns of Namespace. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const namespaceColumns: TableColumns = {
  columns: [nameColumn, column('Status', 'Whether it is active or being emptied.'), ageColumn],
  cells: (object, now) => [object.metadata.name, object.status?.phase ?? '', ageOf(object, now)],
}
