/** Table columns of ComponentStatus. */
import type { Loose } from '#api/object-meta.ts'
import { column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const componentStatusColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Status', 'Whether the component is healthy.'),
    column('Message', 'What the component said.'),
    column('Error', 'What went wrong when it was asked.'),
  ],
  cells: (object) => {
    const healthy = (object.conditions ?? []).find((c: Loose) => c.type === 'Healthy')
    const status = healthy?.status === 'True' ? 'Healthy' : 'Unhealthy'
    return [
      object.metadata.name,
      healthy ? status : 'Unknown',
      healthy?.message ?? '',
      healthy?.error ?? '',
    ]
  },
}
