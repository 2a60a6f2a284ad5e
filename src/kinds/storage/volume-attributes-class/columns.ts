/** Table columns of VolumeAttributesClass. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const volumeAttributesClassColumns: TableColumns = {
  columns: [nameColumn, column('DriverName', 'The driver that the class is for.'), ageColumn],
  cells: (object, now) => [object.metadata.name, object.driverName ?? '', ageOf(object, now)],
}
