/** The rules of Job. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { jobBehaviour } from './behaviour.ts'
import { jobColumns, jobColumnsBefore34 } from './columns.ts'
import { jobDefaults } from './defaults.ts'

const tablesShowStatus = change('tables of jobs have a column Status', { since: 30 })
const tablesShowSuccess = change('tables show jobs whose success criteria are met', { since: 34 })

export const job: KindRules = {
  behaviour: jobBehaviour,
  finalizerNames: 'by-behaviour',
  columns: jobColumns,
  olderColumns: [
    { before: tablesShowStatus, without: ['Status'] },
    { before: tablesShowSuccess, instead: jobColumnsBefore34 },
  ],
  defaults: { ...podTemplateDefaults, ...jobDefaults },
}
