/** RoleBinding: grants a role within a namespace. */
import type { Behaviour } from '#kinds/kind.ts'
import { bindingBehaviour } from '#kinds/rbac/binding-behaviour.ts'

export const roleBindingBehaviour: Behaviour = bindingBehaviour(true, ['Role', 'ClusterRole'])
