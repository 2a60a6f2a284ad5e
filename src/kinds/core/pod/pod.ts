/** The rules of Pod. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { podBehaviour } from './behaviour.ts'
import { podColumns, podColumnsBefore22 } from './columns.ts'
import { podDefaults } from './defaults.ts'

export const pod: KindRules = {
  behaviour: podBehaviour,
  finalizerNames: 'by-behaviour',
  columns: podColumns,
  olderColumns: [
    {
      before: change('tables of pods show when a container last restarted', { since: 22 }),
      instead: podColumnsBefore22,
    },
  ],
  defaults: { ...podTemplateDefaults, ...podDefaults },
}
