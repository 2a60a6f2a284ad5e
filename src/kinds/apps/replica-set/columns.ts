/** Table columns of ReplicaSet. */
import { formatLabelSelector } from '#api/label-selector.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { replicaCells, replicaColumns } from '#kinds/workloads/replica-columns.ts'

export const replicaSetColumns: TableColumns = {
  columns: replicaColumns,
  cells: (object, now) => [
    ...replicaCells(object, now),
    formatLabelSelector(object.spec?.selector),
  ],
}
