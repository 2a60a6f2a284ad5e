/** Table columns of EvictionRequest. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { targetCells, targetColumns } from '#kinds/lifecycle/request-columns.ts'

export const evictionRequestColumns: TableColumns = {
  columns: [
    nameColumn,
    ...targetColumns,
    column('Requester', 'Who requests the eviction.'),
    column('Intent', 'Whether the requester wants the eviction or has withdrawn it.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    ...targetCells(object),
    object.spec?.requester ?? '',
    object.spec?.intent ?? '',
    ageOf(object, now),
  ],
}
