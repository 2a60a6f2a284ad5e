/** The rules of ResourceSlice. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { deviceDefaults } from '#kinds/resource/device-defaults.ts'
import { resourceSliceBehaviour } from './behaviour.ts'
import { resourceSliceColumns } from './columns.ts'
import { resourceSliceConversions } from './conversions.ts'

export const resourceSlice: KindRules = {
  behaviour: resourceSliceBehaviour,
  columns: resourceSliceColumns,
  defaults: deviceDefaults,
  conversions: resourceSliceConversions,
}
