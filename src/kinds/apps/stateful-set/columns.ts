/** Table columns of StatefulSet. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { containerCells } from '#kinds/pod-template/container-cells.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { containersColumn, imagesColumn } from '#kinds/workloads/template-columns.ts'

export const statefulSetColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Ready', 'Pods that are ready, of those wanted.'),
    ageColumn,
    containersColumn,
    imagesColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    ageOf(object, now),
    ...containerCells(object.spec?.template),
  ],
}
