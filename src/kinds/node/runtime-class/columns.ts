/** Table columns of RuntimeClass. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const runtimeClassColumns: TableColumns = {
  columns: [nameColumn, column('Handler', 'The container runtime it names.'), ageColumn],
  cells: (object, now) => [object.metadata.name, object.handler ?? '', ageOf(object, now)],
}
