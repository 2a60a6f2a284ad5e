/** Table columns of APIService. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

function availabilityOf(apiService: KubeObject): string {
  const conditions: Loose[] = apiService.status?.conditions ?? []
  const available = conditions.find((condition) => condition.type === 'Available')
  if (!available) return 'Unknown'
  const { status, reason } = available
  return status !== 'True' && reason ? `${status} (${reason})` : status
}

export const apiServiceColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Service', 'The service that answers, or Local.'),
    column('Available', 'Whether it answers.'),
    ageColumn,
  ],
  cells: (object, now) => {
    const service = object.spec?.service
    return [
      object.metadata.name,
      service ? `${service.namespace ?? ''}/${service.name ?? ''}` : 'Local',
      availabilityOf(object),
      ageOf(object, now),
    ]
  },
}
