/** The rules of Workload. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { nameAndAge } from '#kinds/all-kinds/name-and-age.ts'
import { needsResourceVersion } from '#kinds/scheduling/needs-resource-version.ts'
import { workloadBehaviour } from './behaviour.ts'
import { olderWorkloadBehaviour } from './older-behaviour.ts'

export const workload: KindRules = {
  behaviour: workloadBehaviour,
  olderBehaviour: { before: needsResourceVersion, behaviour: olderWorkloadBehaviour },
  columns: nameAndAge,
}
