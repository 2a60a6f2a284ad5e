/** The rules of EndpointSlice. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { endpointSliceBehaviour } from './behaviour.ts'
import { endpointSliceColumns } from './columns.ts'
import { endpointSliceConversions } from './conversions.ts'
import { endpointSliceDefaults } from './defaults.ts'

export const endpointSlice: KindRules = {
  behaviour: endpointSliceBehaviour,
  columns: endpointSliceColumns,
  olderColumns: [
    {
      before: change('tables of endpoint slices show addresses and ports', { since: 17 }),
      without: 'everything',
    },
  ],
  defaults: endpointSliceDefaults,
  conversions: endpointSliceConversions,
}
