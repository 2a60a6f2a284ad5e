/** The rules of Ingress. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { ingressBehaviour } from './behaviour.ts'
import { ingressColumns } from './columns.ts'
import { ingressConversions } from './conversions.ts'
import { ingressDefaults } from './defaults.ts'

export const ingress: KindRules = {
  behaviour: ingressBehaviour,
  columns: ingressColumns,
  olderColumns: [{ before: 18, without: ['Class'] }],
  defaults: ingressDefaults,
  conversions: ingressConversions,
}
