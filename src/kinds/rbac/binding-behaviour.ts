/** Common behaviour of RoleBinding and ClusterRoleBinding. */
import type { Behaviour } from '#kinds/kind.ts'
import { checkBinding, checkSameRole } from './policy-rules.ts'
import { checkedTwice } from './rbac-behaviour.ts'

export const bindingBehaviour = (namespaced: boolean, roleKinds: string[]): Behaviour => ({
  ...checkedTwice(
    namespaced,
    (binding) => checkBinding(binding, roleKinds, namespaced),
    checkSameRole,
  ),
})
