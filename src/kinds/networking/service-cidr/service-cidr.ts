/** The rules of ServiceCIDR. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { serviceCidrBehaviour } from './behaviour.ts'
import { serviceCidrColumns } from './columns.ts'

export const serviceCidr: KindRules = {
  behaviour: serviceCidrBehaviour,
  columns: serviceCidrColumns,
}
