/** The rules of ResourceClaimTemplate. */
import { nameAndAge } from '#kinds/all-kinds/name-and-age.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { deviceDefaults } from '#kinds/resource/device-defaults.ts'
import { resourceClaimTemplateBehaviour } from './behaviour.ts'
import { resourceClaimTemplateConversions } from './conversions.ts'

export const resourceClaimTemplate: KindRules = {
  behaviour: resourceClaimTemplateBehaviour,
  columns: nameAndAge,
  defaults: deviceDefaults,
  conversions: resourceClaimTemplateConversions,
}
