/** The rules of IngressClass. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { ingressClassBehaviour } from './behaviour.ts'
import { ingressClassColumns } from './columns.ts'
import { ingressClassDefaults } from './defaults.ts'

export const ingressClass: KindRules = {
  behaviour: ingressClassBehaviour,
  columns: ingressClassColumns,
  defaults: ingressClassDefaults,
}
