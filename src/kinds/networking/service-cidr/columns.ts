/** Table columns of ServiceCIDR. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const serviceCidrColumns: TableColumns = {
  columns: [nameColumn, column('CIDRs', 'The blocks of addresses.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    (object.spec?.cidrs ?? []).join(','),
    ageOf(object, now),
  ],
}
