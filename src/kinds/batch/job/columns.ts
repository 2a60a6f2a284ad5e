/** Table columns of Job. */
import { formatLabelSelector } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf, humanDuration } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { containerCells } from '#kinds/pod-template/container-cells.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { templateColumns } from '#kinds/workloads/template-columns.ts'

function completionsOf(job: KubeObject): string {
  const { completions, parallelism = 0 }: Loose = job.spec ?? {}
  const succeeded = job.status?.succeeded ?? 0
  if (completions !== undefined && completions !== null) return `${succeeded}/${completions}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationOf(job: KubeObject, now: number): string {
  const { startTime, completionTime }: Loose = job.status ?? {}
  if (!startTime) return ''
  return humanDuration((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime))
}

/** The first of these conditions that is true determines the STATUS column. */
const progress = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet']

function statusOf(job: KubeObject): string {
  const conditions: Loose[] = job.status?.conditions ?? []
  const isTrue = (type: string) =>
    conditions.some((condition) => condition.type === type && condition.status === 'True')
  if (isTrue('Complete')) return 'Complete'
  if (isTrue('Failed')) return 'Failed'
  if (job.metadata.deletionTimestamp) return 'Terminating'
  return progress.find(isTrue) ?? 'Running'
}

export const jobColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Status', 'What has become of the job so far.'),
    column('Completions', 'Pods that succeeded, of those needed.'),
    column('Duration', 'Time the job has taken.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => [
    object.metadata.name,
    statusOf(object),
    completionsOf(object),
    durationOf(object, now),
    ageOf(object, now),
    ...containerCells(object.spec?.template),
    formatLabelSelector(object.spec?.selector),
  ],
}

/** Before 1.34, jobs with condition SuccessCriteriaMet were shown as running. */
export const jobColumnsBefore34: TableColumns = {
  ...jobColumns,
  cells(object, now) {
    const cells = jobColumns.cells(object, now)
    return cells[1] === 'SuccessCriteriaMet' ? cells.with(1, 'Running') : cells
  },
}
