/** Columns of webhook configurations and APIService. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn } from './column.ts'

export const webhookConfigurationColumns: TableColumns = {
  columns: [nameColumn, column('Webhooks', 'Number of webhooks.', 'integer'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    (object.webhooks ?? []).length,
    ageOf(object, now),
  ],
}

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
