/** Table columns of PodGroup. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import {
  policyColumn,
  policyOf,
  workloadColumn,
  workloadOf,
} from '#kinds/scheduling/group-columns.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

function statusOf({ status }: KubeObject, scheduledType: string): string {
  const conditions: Loose[] = status?.conditions ?? []
  const last = (type: string) => conditions.findLast((condition) => condition.type === type)
  const disrupted = last('DisruptionTarget')
  if (disrupted !== undefined) return disrupted.reason ?? ''
  const scheduled = last(scheduledType)
  if (scheduled === undefined) return 'Pending'
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable'
}

const columnsWith = (
  scheduledType: string,
  workload: (object: KubeObject) => string,
): TableColumns => ({
  columns: [
    nameColumn,
    policyColumn,
    workloadColumn,
    column('Status', 'Whether the group is scheduled.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    policyOf(object),
    workload(object),
    statusOf(object, scheduledType),
    ageOf(object, now),
  ],
})

export const podGroupColumns: TableColumns = columnsWith('PodGroupInitiallyScheduled', workloadOf)

function templateWorkloadOf({ spec }: KubeObject): string {
  const template: Loose | undefined = spec?.podGroupTemplateRef
  return template ? (template.workload?.workloadName ?? '') : '<none>'
}

export const olderPodGroupColumns: TableColumns = columnsWith(
  'PodGroupScheduled',
  templateWorkloadOf,
)
