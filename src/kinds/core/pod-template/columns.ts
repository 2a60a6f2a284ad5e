/** Table columns of PodTemplate. */
import { formatLabels } from '#api/label-selector.ts'
import { column, nameColumn } from '#kinds/all-kinds/column.ts'
import { containerCells } from '#kinds/pod-template/container-cells.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const podTemplateColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Containers', 'Names of the containers.'),
    column('Images', 'Images of the containers.'),
    column('Pod Labels', 'Labels pods from it get.'),
  ],
  cells: (object) => [
    object.metadata.name,
    ...containerCells(object.template),
    formatLabels(object.template?.metadata?.labels),
  ],
}
