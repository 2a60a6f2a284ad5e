/** Columns of FlowSchema and PriorityLevelConfiguration. */
import { byCodePoint } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn } from './column.ts'

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

export const priorityLevelConfigurationColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Type', 'Whether its requests are limited.'),
    column('AssuredConcurrencyShares', 'Its share of the requests served at once.'),
    column('Queues', 'Number of queues.'),
    column('HandSize', 'Queues dealt to each flow.'),
    column('QueueLengthLimit', 'Requests that can wait in one queue.'),
    ageColumn,
  ],
  cells: (object, now) => {
    const { type, limited } = object.spec ?? {}
    const queuing = limited?.limitResponse?.queuing
    const none = '<none>'
    return [
      object.metadata.name,
      type ?? '',
      limited ? (limited.assuredConcurrencyShares ?? 0) : none,
      queuing ? (queuing.queues ?? 0) : none,
      queuing ? (queuing.handSize ?? 0) : none,
      queuing ? (queuing.queueLengthLimit ?? 0) : none,
      ageOf(object, now),
    ]
  },
}
