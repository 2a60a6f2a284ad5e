/** Table columns of DeviceTaintRule. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const deviceTaintRuleColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Key', 'Key of the taint.'),
    column('Value', 'Value of the taint.'),
    column('Effect', 'What becomes of pods that do not tolerate the taint.'),
    column('TimeAdded', 'Time since the taint was added.'),
    ageColumn,
  ],
  cells: (object, now) => {
    const { key = '', value = '', effect = '', timeAdded } = object.spec?.taint ?? {}
    const added = { metadata: { creationTimestamp: timeAdded } }
    return [object.metadata.name, key, value, effect, ageOf(added, now), ageOf(object, now)]
  },
}
