/** Table columns of DaemonSet. */
import { formatLabelSelector, formatLabels } from '#api/label-selector.ts'
import type { Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { containerCells } from '#kinds/pod-template/container-cells.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { templateColumns } from '#kinds/workloads/template-columns.ts'

export const daemonSetColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Desired', 'Nodes that should run a pod.', 'integer'),
    column('Current', 'Nodes that run a pod.', 'integer'),
    column('Ready', 'Nodes whose pod is ready.', 'integer'),
    column('Up-to-date', 'Nodes whose pod is from the newest template.', 'integer'),
    column('Available', 'Nodes whose pod has been ready for long enough.', 'integer'),
    column('Node Selector', 'Labels of the nodes that should run a pod.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => {
    const status: Loose = object.status ?? {}
    return [
      object.metadata.name,
      status.desiredNumberScheduled ?? 0,
      status.currentNumberScheduled ?? 0,
      status.numberReady ?? 0,
      status.updatedNumberScheduled ?? 0,
      status.numberAvailable ?? 0,
      formatLabels(object.spec?.template?.spec?.nodeSelector),
      ageOf(object, now),
      ...containerCells(object.spec?.template),
      formatLabelSelector(object.spec?.selector),
    ]
  },
}
