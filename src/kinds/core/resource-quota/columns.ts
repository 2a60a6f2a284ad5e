/** Table columns of ResourceQuota. */
import { namesInOrder } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const resourceQuotaColumns: TableColumns = {
  columns: [
    nameColumn,
    ageColumn,
    column('Request', 'Used and allowed amounts of what is requested.'),
    column('Limit', 'Used and allowed amounts of limits.'),
  ],
  cells: (object, now) => {
    const names = namesInOrder(object.status?.hard ?? {})
    const isLimit = (name: string) => name.startsWith('limits.')
    const shown = (list: string[]) => list.map((name) => usage(object, name)).join(', ')
    return [
      object.metadata.name,
      ageOf(object, now),
      shown(names.filter((name) => !isLimit(name))),
      shown(names.filter(isLimit)),
    ]
  },
}

const usage = (quota: KubeObject, name: string): string =>
  `${name}: ${ownValue(quota.status.used, name) ?? '0'}/${quota.status.hard[name]}`
