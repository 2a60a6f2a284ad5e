/** Table columns of the two kinds of webhook configurations. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const webhookConfigurationColumns: TableColumns = {
  columns: [nameColumn, column('Webhooks', 'Number of webhooks.', 'integer'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    (object.webhooks ?? []).length,
    ageOf(object, now),
  ],
}
