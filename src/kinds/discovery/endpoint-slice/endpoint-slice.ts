/** The rules of EndpointSlice. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { endpointSliceBehaviour } from './behaviour.ts'
import { endpointSliceColumns } from './columns.ts'
import { endpointSliceConversions } from './conversions.ts'
import { endpointSliceDefaults } from './defaults.ts'

export const endpointSlice: KindRules = {
  behaviour: endpointSliceBehaviour,
  columns: endpointSliceColumns,
  olderColumns: [{ before: 17, without: 'everything' }],
  defaults: endpointSliceDefaults,
  conversions: endpointSliceConversions,
}
