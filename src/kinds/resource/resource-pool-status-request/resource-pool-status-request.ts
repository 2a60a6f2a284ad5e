/** The rules of ResourcePoolStatusRequest. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { resourcePoolStatusRequestBehaviour } from './behaviour.ts'
import { resourcePoolStatusRequestColumns } from './columns.ts'

export const resourcePoolStatusRequest: KindRules = {
  behaviour: resourcePoolStatusRequestBehaviour,
  columns: resourcePoolStatusRequestColumns,
}
