/**
 * Prevents privilege escalation: users may grant only permissions that they have. Checks roles and
 * bindings in their final form. Always enabled.
 */
import type { Authorizer } from '#access/authorize.ts'
import { refuseEscalation } from '#access/authorize/escalation.ts'
import type { RbacAuthorizer } from '#access/authorize/rbac.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { AdmissionPlugin } from './admission.ts'

const plurals = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'] as const
type Plural = (typeof plurals)[number]

export function roleEscalation(authorizer: Authorizer, rbac: RbacAuthorizer): AdmissionPlugin {
  return {
    name: 'RoleEscalation',
    mutate({ operation, kind, user, namespace, name, object, old }) {
      if (kind.group !== 'rbac.authorization.k8s.io' || !plurals.includes(kind.plural as Plural))
        return
      if (operation !== 'CREATE' && operation !== 'UPDATE') return
      const plural = kind.plural as Plural
      const path = operation === 'CREATE' ? '' : name
      return refuseEscalation(
        { user, plural, namespace, name: path, object: object as KubeObject, old },
        authorizer,
        rbac,
      )
    },
  }
}
