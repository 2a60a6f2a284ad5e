/** ClusterRoleBinding: grants a role in the whole cluster. */
import type { Behaviour } from '#kinds/kind.ts'
import { bindingBehaviour } from '#kinds/rbac/binding-behaviour.ts'

export const clusterRoleBindingBehaviour: Behaviour = bindingBehaviour(false, ['ClusterRole'])
