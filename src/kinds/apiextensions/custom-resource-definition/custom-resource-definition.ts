/** The rules of CustomResourceDefinition. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { customResourceDefinitionBehaviour } from './behaviour.ts'
import { customResourceDefinitionConversions } from './conversions.ts'
import { customResourceDefinitionDefaults } from './defaults.ts'

export const customResourceDefinition: KindRules = {
  behaviour: customResourceDefinitionBehaviour,
  finalizerNames: 'any',
  defaults: customResourceDefinitionDefaults,
  conversions: customResourceDefinitionConversions,
}
