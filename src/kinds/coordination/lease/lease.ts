/** The rules of Lease. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { leaseBehaviour } from './behaviour.ts'
import { leaseColumns } from './columns.ts'

export const lease: KindRules = {
  behaviour: leaseBehaviour,
  finalizerNames: 'any',
  columns: leaseColumns,
}
