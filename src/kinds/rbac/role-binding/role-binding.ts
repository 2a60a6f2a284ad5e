/** The rules of RoleBinding. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { bindingColumns } from '#kinds/rbac/binding-columns.ts'
import { bindingConversions } from '#kinds/rbac/binding-conversions.ts'
import { bindingDefaults } from '#kinds/rbac/binding-defaults.ts'
import { roleBindingBehaviour } from './behaviour.ts'

export const roleBinding: KindRules = {
  behaviour: roleBindingBehaviour,
  columns: bindingColumns,
  defaults: bindingDefaults,
  conversions: bindingConversions,
}
