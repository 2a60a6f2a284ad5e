/** RoleBinding and ClusterRoleBinding. */
import type { FieldError } from '#api/field-error.ts'
import { pathSegmentName } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/behaviour/metadata.ts'
import { bindingColumns } from '#kinds/columns/rbac.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkBinding, checkSameRole } from './rules.ts'

const nameRule = (name: string): string[] => pathSegmentName(name)

/** An update runs the whole check twice, as the original does: each error is told twice. */
function bindingBehaviour(namespaced: boolean, roleKinds: string[]): Behaviour {
  const check = (binding: KubeObject): FieldError[] => checkBinding(binding, roleKinds, namespaced)
  const whole = (binding: KubeObject) => [
    ...checkMetadata(binding, namespaced, nameRule),
    ...check(binding),
  ]
  return {
    nameRule,
    createOnUpdate: true,
    validateCreate: check,
    validateUpdate: (next, old) => [
      ...whole(next),
      ...whole(next),
      ...checkMetadataUpdate(next, old),
      ...checkSameRole(next, old),
    ],
    columns: bindingColumns,
  }
}

export const roleBinding: Behaviour = bindingBehaviour(true, ['Role', 'ClusterRole'])
export const clusterRoleBinding: Behaviour = bindingBehaviour(false, ['ClusterRole'])
