/** Table columns of LeaseCandidate. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const leaseCandidateColumns: TableColumns = {
  columns: [
    nameColumn,
    column('LeaseName', 'The lease that the candidate wants.'),
    column('BinaryVersion', 'The version of the program.'),
    column('EmulationVersion', 'The version that the program emulates.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.leaseName ?? '',
    object.spec?.binaryVersion ?? '',
    object.spec?.emulationVersion ?? '',
    ageOf(object, now),
  ],
}
