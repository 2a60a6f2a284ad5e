/** The rules of Event. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { eventBehaviour } from './behaviour.ts'
import { eventColumns, eventColumnsBefore16, eventColumnsBefore19 } from './columns.ts'
import { eventConversions } from './conversions.ts'

export const event: KindRules = {
  behaviour: eventBehaviour,
  finalizerNames: 'any',
  columns: eventColumns,
  olderColumns: [
    {
      before: change('tables of events show the time of events without timestamps', { since: 16 }),
      instead: eventColumnsBefore16,
    },
    {
      before: change('tables of events show series and reporters', { since: 19 }),
      instead: eventColumnsBefore19,
    },
  ],
  conversions: eventConversions,
}
