/** The rules of EvictionRequest. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { evictionRequestBehaviour } from './behaviour.ts'
import { evictionRequestColumns } from './columns.ts'

export const evictionRequest: KindRules = {
  behaviour: evictionRequestBehaviour,
  columns: evictionRequestColumns,
}
