/** Table columns of ResourcePoolStatusRequest. */
import type { Loose } from '#api/object-meta.ts'
import { timeSince } from '#kinds/all-kinds/age.ts'
import { column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const countedFields = ['totalDevices', 'availableDevices', 'allocatedDevices', 'unavailableDevices']

/** The condition that ends a request. */
const endOf = (status: Loose | undefined): Loose | undefined =>
  ((status?.conditions ?? []) as Loose[]).find(
    ({ type, status: state }) => state === 'True' && (type === 'Complete' || type === 'Failed'),
  )

/** Devices over all pools, and pools with an error. Unknown until the request is answered. */
function countsOf(status: Loose | undefined, end: Loose | undefined): string[] {
  if (status === undefined || end?.type === 'Failed') return Array(5).fill('-')
  const pools: Loose[] = status.pools ?? []
  const total = (field: string) => pools.reduce((sum, pool) => sum + (pool[field] ?? 0), 0)
  const failed = pools.filter(({ validationError }) => validationError !== undefined)
  return [...countedFields.map(total), failed.length].map(String)
}

function stateOf(status: Loose | undefined, end: Loose | undefined): string {
  const [count, shown]: number[] = [status?.poolCount ?? 0, status?.pools?.length ?? 0]
  if (end === undefined) return 'Pending'
  if (end.type === 'Failed') return 'Failed'
  return (count as number) > (shown as number) ? `Complete (${shown}/${count} pools)` : 'Complete'
}

export const resourcePoolStatusRequestColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Driver', 'The driver of the pools.'),
    column('Total', 'Devices of all pools.'),
    column('Available', 'Available devices of all pools.'),
    column('Allocated', 'Allocated devices of all pools.'),
    column('Unavailable', 'Unavailable devices of all pools.'),
    column('Errors', 'Pools that are not valid.'),
    column('Pools', 'Pools that match.', 'integer'),
    column('Status', 'Whether the request is answered.'),
    column('Completed', 'Time since the answer.'),
  ],
  cells({ metadata, spec, status }, now) {
    const end = endOf(status)
    return [
      metadata.name,
      spec?.driver ?? '',
      ...countsOf(status, end),
      status?.poolCount ?? 0,
      stateOf(status, end),
      end?.type === 'Complete' ? timeSince(end.lastTransitionTime, now) : '<none>',
    ]
  },
}
