/** The rules of CronJob. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { jobPatternDefaults } from '#kinds/batch/job/defaults.ts'
import { cronJobBehaviour } from './behaviour.ts'
import { cronJobColumns } from './columns.ts'
import { cronJobDefaults } from './defaults.ts'

const tablesShowZones = change('tables of cron jobs have a column Timezone', { since: 30 })

export const cronJob: KindRules = {
  behaviour: cronJobBehaviour,
  finalizerNames: 'by-behaviour',
  columns: cronJobColumns,
  olderColumns: [{ before: tablesShowZones, without: ['Timezone'] }],
  defaults: { ...podTemplateDefaults, ...jobPatternDefaults, ...cronJobDefaults },
}
