/** Table columns of CronJob. */
import { formatLabelSelector } from '#api/label-selector.ts'
import type { Loose } from '#api/object-meta.ts'
import { ageOf, timeSince } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { containerCells } from '#kinds/pod-template/container-cells.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { templateColumns } from '#kinds/workloads/template-columns.ts'

function suspended(value: boolean | null | undefined): string {
  if (value === undefined || value === null) return '<unset>'
  return value ? 'True' : 'False'
}

export const cronJobColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Schedule', 'When jobs are started.'),
    column('Timezone', 'The time zone that the schedule is in.'),
    column('Suspend', 'Whether no more are started for now.', 'boolean'),
    column('Active', 'Jobs that are running.', 'integer'),
    column('Last Schedule', 'When a job was last started.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => {
    const job: Loose = object.spec?.jobTemplate?.spec ?? {}
    const last = object.status?.lastScheduleTime
    return [
      object.metadata.name,
      object.spec?.schedule ?? '',
      object.spec?.timeZone ?? '<none>',
      suspended(object.spec?.suspend),
      (object.status?.active ?? []).length,
      last ? timeSince(last, now) : '<none>',
      ageOf(object, now),
      ...containerCells(job.template),
      formatLabelSelector(job.selector),
    ]
  },
}
