/** Table columns of ConfigMap. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { countOf } from '#kinds/all-kinds/count-of.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const configMapColumns: TableColumns = {
  columns: [nameColumn, column('Data', 'Number of keys, text and binary.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    countOf(object.data) + countOf(object.binaryData),
    ageOf(object, now),
  ],
}

/** Before 1.16 the DATA column does not count binaryData. */
export const configMapColumnsBefore16: TableColumns = {
  ...configMapColumns,
  cells: (object, now) => [object.metadata.name, countOf(object.data), ageOf(object, now)],
}
