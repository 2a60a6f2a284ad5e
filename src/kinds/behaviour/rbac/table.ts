/** The behaviours of rbac.authorization.k8s.io, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { clusterRoleBinding, roleBinding } from './bindings.ts'
import { clusterRole, role } from './roles.ts'

export const rbacBehaviours: Readonly<Record<string, Behaviour>> = {
  'rbac.authorization.k8s.io/roles': role,
  'rbac.authorization.k8s.io/clusterroles': clusterRole,
  'rbac.authorization.k8s.io/rolebindings': roleBinding,
  'rbac.authorization.k8s.io/clusterrolebindings': clusterRoleBinding,
}
