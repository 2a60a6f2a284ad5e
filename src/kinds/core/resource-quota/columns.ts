/** Table columns of ResourceQuota. */
import { namesInOrder } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { change } from '#api/releases/change.ts'
import type { OlderColumns } from '#kinds/kind-rules.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const request = column('Request', 'Used and allowed amounts of what is requested.')
const limit = column('Limit', 'Used and allowed amounts of limits.')

export const resourceQuotaColumns: TableColumns = {
  columns: [nameColumn, request, limit, ageColumn],
  cells: (object, now) => [object.metadata.name, ...amountsOf(object), ageOf(object, now)],
}

export const olderQuotaColumns: readonly OlderColumns[] = [
  {
    before: change('tables of resource quotas show requests and limits', { since: 18 }),
    without: 'everything',
  },
  {
    before: change('tables of resource quotas end with the age', { since: 33 }),
    instead: {
      columns: [nameColumn, ageColumn, request, limit],
      cells: (object, now) => [object.metadata.name, ageOf(object, now), ...amountsOf(object)],
    },
  },
]

/** The amounts of requests, and of limits. */
function amountsOf(object: KubeObject): [string, string] {
  const names = namesInOrder(object.status?.hard ?? {})
  const isLimit = (name: string) => name.startsWith('limits.')
  const shown = (list: string[]) => list.map((name) => usage(object, name)).join(', ')
  return [shown(names.filter((name) => !isLimit(name))), shown(names.filter(isLimit))]
}

const usage = (quota: KubeObject, name: string): string =>
  `${name}: ${ownValue(quota.status.used, name) ?? '0'}/${quota.status.hard[name]}`
