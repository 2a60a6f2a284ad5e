/** The rules of Ingress. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { ingressBehaviour } from './behaviour.ts'
import { ingressColumns } from './columns.ts'
import { ingressConversions } from './conversions.ts'
import { ingressDefaults } from './defaults.ts'

export const ingress: KindRules = {
  behaviour: ingressBehaviour,
  columns: ingressColumns,
  olderColumns: [
    { before: change('tables of ingresses show the class', { since: 18 }), without: ['Class'] },
  ],
  defaults: ingressDefaults,
  conversions: ingressConversions,
}
