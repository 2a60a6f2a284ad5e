/** Role: permissions within a namespace. */
import type { FieldError } from '#api/field-error.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkPolicyRules } from '#kinds/rbac/policy-rules.ts'
import { checkedTwice } from '#kinds/rbac/rbac-behaviour.ts'

const checkRole = (role: KubeObject): FieldError[] => checkPolicyRules(role.rules, true)

export const roleBehaviour: Behaviour = checkedTwice(true, checkRole)
