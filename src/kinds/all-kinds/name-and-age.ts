/** The table columns of kinds that show nothing but their name and age. */
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, nameColumn } from './column.ts'

export const nameAndAge: TableColumns = {
  columns: [nameColumn, ageColumn],
  cells: (object, now) => [object.metadata.name, ageOf(object, now)],
}
