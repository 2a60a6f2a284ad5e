/** Table columns of ResourceSlice. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const resourceSliceColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Node', 'The node that has the devices.'),
    column('Driver', 'The driver of the devices.'),
    column('Pool', 'The pool that the devices belong to.'),
    ageColumn,
  ],
  cells: (object, now) => {
    const { nodeName = '', driver = '', pool } = object.spec ?? {}
    return [object.metadata.name, nodeName, driver, pool?.name ?? '', ageOf(object, now)]
  },
}
