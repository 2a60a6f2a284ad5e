/** Table columns of ResourceClaim. */
import type { KubeObject } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

function stateOf({ metadata, status }: KubeObject): string {
  const isDeleted = metadata.deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (!status?.allocation) return [...states, ...(isDeleted ? [] : ['pending'])].join(',')
  return [...states, 'allocated', ...(status.reservedFor?.length > 0 ? ['reserved'] : [])].join(',')
}

export const resourceClaimColumns: TableColumns = {
  columns: [nameColumn, column('State', 'Whether it is allocated and reserved.'), ageColumn],
  cells: (object, now) => [object.metadata.name, stateOf(object), ageOf(object, now)],
}
