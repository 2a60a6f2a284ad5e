/** The rules of RuntimeClass. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { runtimeClassBehaviour } from './behaviour.ts'
import { runtimeClassColumns } from './columns.ts'
import { runtimeClassConversions } from './conversions.ts'

export const runtimeClass: KindRules = {
  behaviour: runtimeClassBehaviour,
  finalizerNames: 'any',
  columns: runtimeClassColumns,
  olderColumns: [
    {
      before: change('tables of runtime classes show the handler', { since: 18 }),
      without: 'everything',
    },
  ],
  conversions: runtimeClassConversions,
}
