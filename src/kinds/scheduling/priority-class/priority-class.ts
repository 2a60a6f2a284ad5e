/** The rules of PriorityClass. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { priorityClassBehaviour } from './behaviour.ts'
import { priorityClassColumns } from './columns.ts'
import { priorityClassDefaults } from './defaults.ts'

export const priorityClass: KindRules = {
  behaviour: priorityClassBehaviour,
  columns: priorityClassColumns,
  olderColumns: [
    {
      before: change('tables of priority classes show the preemption policy', { since: 32 }),
      without: ['PreemptionPolicy'],
    },
  ],
  defaults: priorityClassDefaults,
}
