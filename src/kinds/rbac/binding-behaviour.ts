/** What RoleBinding and ClusterRoleBinding share. */
import type { Behaviour } from '#kinds/kind.ts'
import { checkBinding, checkSameRole } from './policy-rules.ts'
import { toldTwice } from './rbac-behaviour.ts'

export const bindingBehaviour = (namespaced: boolean, roleKinds: string[]): Behaviour => ({
  ...toldTwice(
    namespaced,
    (binding) => checkBinding(binding, roleKinds, namespaced),
    checkSameRole,
  ),
})
