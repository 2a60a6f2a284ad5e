/** The rules of Service. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { serviceBehaviour } from './behaviour.ts'
import { serviceColumns } from './columns.ts'
import { serviceDefaults } from './defaults.ts'

export const service: KindRules = {
  behaviour: serviceBehaviour,
  columns: serviceColumns,
  defaults: serviceDefaults,
}
