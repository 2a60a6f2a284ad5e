/** The rules of Event. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { eventBehaviour } from './behaviour.ts'
import { eventColumns, eventColumnsBefore16, eventColumnsBefore19 } from './columns.ts'
import { eventConversions } from './conversions.ts'

export const event: KindRules = {
  behaviour: eventBehaviour,
  finalizerNames: 'any',
  columns: eventColumns,
  olderColumns: [
    { before: 16, instead: eventColumnsBefore16 },
    { before: 19, instead: eventColumnsBefore19 },
  ],
  conversions: eventConversions,
}
