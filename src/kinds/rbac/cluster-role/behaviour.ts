/** ClusterRole: permissions in the whole cluster, also made from other cluster roles. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { isLabelSelector } from '#kinds/all-kinds/checks.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkPolicyRules } from '#kinds/rbac/policy-rules.ts'
import { checkedTwice } from '#kinds/rbac/rbac-behaviour.ts'

const selectorsOf = (role: KubeObject | undefined): Loose[] =>
  role?.aggregationRule?.clusterRoleSelectors ?? []

function checkClusterRole(role: KubeObject, release: number, old?: KubeObject): FieldError[] {
  const errors = checkPolicyRules(role.rules, false)
  if (!role.aggregationRule) return errors
  const path = FieldPath.of('aggregationRule', 'clusterRoleSelectors')
  const selectors = selectorsOf(role)
  const checkValues = checksSelectorValues(releaseOf(release), ...selectorsOf(old))
  if (selectors.length === 0) {
    const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil'
    errors.push(required(path, detail))
  }
  for (const [i, selector] of selectors.entries()) {
    errors.push(...validateLabelSelector(selector, path.index(i), checkValues))
    if (!isLabelSelector(selector)) {
      errors.push(invalid(path.index(i), null, 'invalid label selector.'))
    }
  }
  return errors
}

export const clusterRoleBehaviour: Behaviour = checkedTwice(false, checkClusterRole)
