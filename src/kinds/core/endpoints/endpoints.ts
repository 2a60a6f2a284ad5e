/** The rules of Endpoints. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { endpointsBehaviour } from './behaviour.ts'
import { endpointsColumns } from './columns.ts'
import { endpointsDefaults } from './defaults.ts'

export const endpoints: KindRules = {
  behaviour: endpointsBehaviour,
  columns: endpointsColumns,
  defaults: endpointsDefaults,
}
