/** Table columns of NetworkPolicy. */
import { formatLabelSelector } from '#api/label-selector.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const networkPolicyColumns: TableColumns = {
  columns: [nameColumn, column('Pod-Selector', 'Labels of the pods it is for.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    formatLabelSelector(object.spec?.podSelector ?? {}),
    ageOf(object, now),
  ],
}
