/** Table columns of PodDisruptionBudget. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const budget = (value: unknown): string => (value === undefined ? 'N/A' : String(value))

export const podDisruptionBudgetColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Min Available', 'How many pods must stay.'),
    column('Max Unavailable', 'How many pods may be gone.'),
    column('Allowed Disruptions', 'How many pods may go now.', 'integer'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    budget(object.spec?.minAvailable),
    budget(object.spec?.maxUnavailable),
    object.status?.disruptionsAllowed ?? 0,
    ageOf(object, now),
  ],
}
