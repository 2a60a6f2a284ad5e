/** The rules of Job. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { jobBehaviour } from './behaviour.ts'
import { jobColumns } from './columns.ts'
import { jobDefaults } from './defaults.ts'

export const job: KindRules = {
  behaviour: jobBehaviour,
  finalizerNames: 'by-behaviour',
  columns: jobColumns,
  defaults: { ...podTemplateDefaults, ...jobDefaults },
}
