/** Table columns of ServiceAccount. */
import { change } from '#api/releases/change.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { OlderColumns } from '#kinds/kind-rules.ts'

export const olderServiceAccountColumns: readonly OlderColumns[] = [
  {
    before: change('tables of service accounts do not count their secrets', { since: 35 }),
    instead: {
      columns: [nameColumn, column('Secrets', 'Number of secrets it may use.'), ageColumn],
      cells: (object, now) => [
        object.metadata.name,
        (object.secrets ?? []).length,
        ageOf(object, now),
      ],
    },
  },
]
