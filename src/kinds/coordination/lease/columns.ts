/** Table columns of Lease. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const leaseColumns: TableColumns = {
  columns: [nameColumn, column('Holder', 'Who holds the lease now.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.holderIdentity ?? '',
    ageOf(object, now),
  ],
}
