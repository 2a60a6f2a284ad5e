/** Table columns of FlowSchema. */
import { byCodePoint } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const flowSchemaColumns: TableColumns = {
  columns: [
    nameColumn,
    column('PriorityLevel', 'The priority level its requests get.'),
    column('MatchingPrecedence', 'Its place among the schemas: the lower, the sooner.'),
    column('DistinguisherMethod', 'What tells one flow from another.'),
    ageColumn,
    column('MissingPL', 'Whether its priority level is missing.'),
  ],
  cells: (object, now) => {
    const spec = object.spec ?? {}
    const conditions: Loose[] = object.status?.conditions ?? []
    const dangling = conditions.find((condition) => condition.type === 'Dangling')
    return [
      object.metadata.name,
      spec.priorityLevelConfiguration?.name ?? '',
      spec.matchingPrecedence ?? 0,
      spec.distinguisherMethod?.type ?? '<none>',
      ageOf(object, now),
      dangling?.status ?? '?',
    ]
  },
  /** As they are tried: the lowest first, then by name. */
  order: (a, b) =>
    (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) ||
    byCodePoint(a.metadata.name ?? '', b.metadata.name ?? ''),
}
