/** The rules of ClusterRoleBinding. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { bindingColumns } from '#kinds/rbac/binding-columns.ts'
import { bindingConversions } from '#kinds/rbac/binding-conversions.ts'
import { bindingDefaults } from '#kinds/rbac/binding-defaults.ts'
import { clusterRoleBindingBehaviour } from './behaviour.ts'

export const clusterRoleBinding: KindRules = {
  behaviour: clusterRoleBindingBehaviour,
  columns: bindingColumns,
  defaults: bindingDefaults,
  conversions: bindingConversions,
}
