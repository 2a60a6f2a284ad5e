/** The rules of PodGroup. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { groupDefaults } from '#kinds/scheduling/group-defaults.ts'
import { needsResourceVersion } from '#kinds/scheduling/needs-resource-version.ts'
import { olderPodGroupBehaviour, podGroupBehaviour } from './behaviour.ts'
import { olderPodGroupColumns, podGroupColumns } from './columns.ts'

export const podGroup: KindRules = {
  behaviour: podGroupBehaviour,
  olderBehaviour: { before: needsResourceVersion, behaviour: olderPodGroupBehaviour },
  columns: podGroupColumns,
  olderColumns: [
    {
      before: change('tables of pod groups show the first scheduling and the workload reference', {
        since: 37,
      }),
      instead: olderPodGroupColumns,
    },
  ],
  defaults: groupDefaults,
}
