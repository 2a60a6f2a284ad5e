/** Table columns of PriorityClass. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const priorityClassColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Value', 'The priority: the higher, the sooner.', 'integer'),
    column('Global-Default', 'Whether pods without a class get this one.', 'boolean'),
    ageColumn,
    column('PreemptionPolicy', 'Whether its pods may push others out.'),
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.value ?? 0,
    object.globalDefault ?? false,
    ageOf(object, now),
    object.preemptionPolicy ?? '',
  ],
}
