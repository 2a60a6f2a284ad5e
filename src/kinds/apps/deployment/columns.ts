/** Table columns of Deployment. */
import { formatSelector, selectorOf } from '#api/label-selector.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { containerCells } from '#kinds/pod-template/container-cells.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { templateColumns } from '#kinds/workloads/template-columns.ts'

export const deploymentColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Ready', 'Pods that are ready, of those wanted.'),
    column('Up-to-date', 'Pods made from the newest template.'),
    column('Available', 'Pods ready for long enough.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => [
    object.metadata.name,
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    object.status?.updatedReplicas ?? 0,
    object.status?.availableReplicas ?? 0,
    ageOf(object, now),
    ...containerCells(object.spec?.template),
    formatSelector(selectorOf(object.spec?.selector)),
  ],
}
