/** Table columns of ReplicationController. */
import { formatLabels } from '#api/label-selector.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { replicaCells, replicaColumns } from '#kinds/workloads/replica-columns.ts'

export const replicationControllerColumns: TableColumns = {
  columns: replicaColumns,
  cells: (object, now) => [...replicaCells(object, now), formatLabels(object.spec?.selector)],
}
