/** The rules of APIService. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { apiServiceBehaviour } from './behaviour.ts'
import { apiServiceColumns } from './columns.ts'
import { apiServiceDefaults } from './defaults.ts'

export const apiService: KindRules = {
  behaviour: apiServiceBehaviour,
  finalizerNames: 'any',
  columns: apiServiceColumns,
  defaults: apiServiceDefaults,
}
