/** The rules of PriorityLevelConfiguration. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { priorityLevelConfigurationBehaviour } from './behaviour.ts'
import { priorityLevelConfigurationConversions } from './conversions.ts'
import { olderLevelColumns, priorityLevelConfigurationColumns } from './columns.ts'
import { priorityLevelConfigurationDefaults } from './defaults.ts'

export const priorityLevelConfiguration: KindRules = {
  behaviour: priorityLevelConfigurationBehaviour,
  columns: priorityLevelConfigurationColumns,
  olderColumns: olderLevelColumns,
  conversions: priorityLevelConfigurationConversions,
  defaults: priorityLevelConfigurationDefaults,
}
