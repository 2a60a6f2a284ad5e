/** The rules of Eviction in lifecycle.k8s.io. The Eviction of the group policy is not stored. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { evictionBehaviour } from './behaviour.ts'
import { evictionColumns } from './columns.ts'

export const eviction: KindRules = {
  behaviour: evictionBehaviour,
  columns: evictionColumns,
}
