/** The rules of CustomResourceDefinition. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { customResourceDefinitionBehaviour } from './behaviour.ts'
import { customResourceDefinitionColumns, definitionsHaveColumns } from './columns.ts'
import { customResourceDefinitionConversions } from './conversions.ts'
import { customResourceDefinitionDefaults } from './defaults.ts'

export const customResourceDefinition: KindRules = {
  behaviour: customResourceDefinitionBehaviour,
  finalizerNames: 'any',
  columns: customResourceDefinitionColumns,
  olderColumns: [{ before: definitionsHaveColumns, without: 'everything' }],
  defaults: customResourceDefinitionDefaults,
  conversions: customResourceDefinitionConversions,
}
