/** The rules of CronJob. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { cronJobBehaviour } from './behaviour.ts'
import { cronJobColumns } from './columns.ts'
import { cronJobDefaults } from './defaults.ts'

export const cronJob: KindRules = {
  behaviour: cronJobBehaviour,
  finalizerNames: 'by-behaviour',
  columns: cronJobColumns,
  defaults: { ...podTemplateDefaults, ...cronJobDefaults },
}
