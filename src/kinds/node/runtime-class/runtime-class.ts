/** The rules of RuntimeClass. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { runtimeClassBehaviour } from './behaviour.ts'
import { runtimeClassColumns } from './columns.ts'
import { runtimeClassConversions } from './conversions.ts'

export const runtimeClass: KindRules = {
  behaviour: runtimeClassBehaviour,
  finalizerNames: 'any',
  columns: runtimeClassColumns,
  olderColumns: [{ before: 18, without: 'everything' }],
  conversions: runtimeClassConversions,
}
