/** The rules of ResourceClaimTemplate. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { deviceDefaults } from '#kinds/resource/device-defaults.ts'
import { resourceClaimTemplateBehaviour } from './behaviour.ts'

export const resourceClaimTemplate: KindRules = {
  behaviour: resourceClaimTemplateBehaviour,
  defaults: deviceDefaults,
}
