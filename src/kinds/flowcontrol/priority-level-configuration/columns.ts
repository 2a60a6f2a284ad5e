/** Table columns of PriorityLevelConfiguration. */
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { change } from '#api/releases/change.ts'
import type { OlderColumns } from '#kinds/kind-rules.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const columnsWith = (shares: string, field: string): TableColumns => ({
  columns: [
    nameColumn,
    column('Type', 'Whether its requests are limited.'),
    column(shares, 'Its share of the requests served at once.'),
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
      limited ? (limited[field] ?? 0) : none,
      queuing ? (queuing.queues ?? 0) : none,
      queuing ? (queuing.handSize ?? 0) : none,
      queuing ? (queuing.queueLengthLimit ?? 0) : none,
      ageOf(object, now),
    ]
  },
})

export const priorityLevelConfigurationColumns = columnsWith(
  'NominalConcurrencyShares',
  'nominalConcurrencyShares',
)

export const olderLevelColumns: readonly OlderColumns[] = [
  {
    before: change('tables of priority levels show NominalConcurrencyShares', { since: 26 }),
    instead: columnsWith('AssuredConcurrencyShares', 'assuredConcurrencyShares'),
  },
]
