/** The rules of ResourceClaim. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { deviceDefaults } from '#kinds/resource/device-defaults.ts'
import { resourceClaimBehaviour } from './behaviour.ts'
import { resourceClaimColumns } from './columns.ts'
import { resourceClaimConversions } from './conversions.ts'

export const resourceClaim: KindRules = {
  behaviour: resourceClaimBehaviour,
  columns: resourceClaimColumns,
  defaults: deviceDefaults,
  conversions: resourceClaimConversions,
}
