/** Table columns of Endpoints. */
import type { Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const hostPort = (ip: string, port: number): string =>
  ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`

const endpointsShownMax = 3

/** Combinations of address and port. Only the first few are listed; the others are counted. */
function shownEndpoints(subsets: Loose[]): string {
  if (subsets.length === 0) return '<none>'
  const list: string[] = []
  let count = 0
  for (const { addresses, ports } of subsets) {
    const some: Loose[] = (addresses ?? []).slice(0, endpointsShownMax)
    if (!ports?.length) list.push(...some.map(({ ip }) => ip))
    for (const { port } of (ports ?? []).slice(0, endpointsShownMax)) {
      list.push(...some.map(({ ip }) => hostPort(ip, port)))
    }
    count += (addresses ?? []).length * (ports?.length || 1)
  }
  const shown = list.slice(0, endpointsShownMax).join(',')
  return count > endpointsShownMax ? `${shown} + ${count - endpointsShownMax} more...` : shown
}

export const endpointsColumns: TableColumns = {
  columns: [nameColumn, column('Endpoints', 'Addresses that are ready.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    shownEndpoints(object.subsets ?? []),
    ageOf(object, now),
  ],
}
