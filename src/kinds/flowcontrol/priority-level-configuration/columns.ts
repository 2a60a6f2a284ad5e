/** Table columns of PriorityLevelConfiguration. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

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
