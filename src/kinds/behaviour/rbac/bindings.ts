/** RoleBinding and ClusterRoleBinding. */
import { bindingColumns } from '#kinds/columns/rbac.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkBinding, checkSameRole } from './rules.ts'
import { toldTwice } from './told-twice.ts'

const bindingBehaviour = (namespaced: boolean, roleKinds: string[]): Behaviour => ({
  ...toldTwice(
    namespaced,
    (binding) => checkBinding(binding, roleKinds, namespaced),
    checkSameRole,
  ),
  columns: bindingColumns,
})

export const roleBinding: Behaviour = bindingBehaviour(true, ['Role', 'ClusterRole'])
export const clusterRoleBinding: Behaviour = bindingBehaviour(false, ['ClusterRole'])
