/** Table columns of CompositePodGroup. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, nameColumn } from '#kinds/all-kinds/column.ts'
import {
  policyColumn,
  policyOf,
  workloadColumn,
  workloadOf,
} from '#kinds/scheduling/group-columns.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const compositePodGroupColumns: TableColumns = {
  columns: [nameColumn, policyColumn, workloadColumn, ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    policyOf(object),
    workloadOf(object),
    ageOf(object, now),
  ],
}
