/**
 * The RBAC mode. It watches roles and bindings, and role-index.ts indexes them by subject.
 * Decisions are synchronous and never read the store.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { joinErrors } from '#access/error-list.ts'
import {
  type Attributes,
  type Authorizer,
  type Decision,
  noOpinion,
  type RuleResolver,
  type Rules,
} from '#access/authorize.ts'
import type { User } from '#access/user.ts'
import { combinedResource, type PolicyRule, ruleAllows } from './policy-rule.ts'
import { type Binding, RoleIndex, type RoleSlot, type Subject, subjectFor } from './role-index.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'
const plurals = ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'] as const

export class RbacAuthorizer implements Authorizer, RuleResolver {
  readonly name = 'RBAC'
  readonly #index = new RoleIndex()
  readonly #decisions = new WeakMap<Binding, Decision>()

  /** Resolves when all existing roles and bindings are known. The result stops the watches. */
  async follow(reader: ObjectReader): Promise<() => void> {
    const stops = await Promise.all(
      plurals.map((plural) =>
        reader.follow(rbacGroup, plural, {
          changed: (object) => this.changed(plural, object),
          deleted: (object) => this.deleted(plural, object),
        }),
      ),
    )
    return () => {
      for (const stop of stops) stop()
    }
  }

  changed(plural: string, object: KubeObject): void {
    const { namespace = '', name = '' } = object.metadata
    if (plural.endsWith('bindings')) this.#index.setBinding(object)
    else this.#index.setRole(namespace, name, object.rules)
  }

  deleted(plural: string, object: KubeObject): void {
    const { namespace = '', name = '' } = object.metadata
    if (plural.endsWith('bindings')) this.#index.removeBinding(namespace, name)
    else this.#index.removeRole(namespace, name)
  }

  authorize(attributes: Attributes): Decision {
    const { user, namespace } = attributes
    const combined = combinedResource(attributes)
    let decision: Decision | undefined
    let missing: string[] | undefined
    this.#index.visit(user, namespace, (role, bindings) => {
      if (role.rules === undefined) {
        missing ??= []
        missing.push(roleError(role))
        return false
      }
      for (const rule of role.rules) {
        if (!ruleAllows(rule, attributes, combined)) continue
        decision = this.#allowedBy(bindings, user)
        return true
      }
      return false
    })
    if (decision !== undefined) return decision
    if (missing === undefined) return noOpinion
    return { decision: 'none', reason: `RBAC: ${joinErrors(missing)}` }
  }

  rulesFor(user: User, namespace: string): Rules {
    const { rules, missing } = this.policyRulesFor(user, namespace)
    return {
      resourceRules: rules
        .filter(({ resources }) => (resources?.length ?? 0) > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          ...(apiGroups != null && apiGroups.length > 0 && { apiGroups }),
          ...(resources != null && resources.length > 0 && { resources }),
          ...(resourceNames != null && resourceNames.length > 0 && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => (nonResourceURLs?.length ?? 0) > 0)
        .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      errors: missing.map(roleError),
    }
  }

  /**
   * The rules that are bound to the user, once per binding, and the names of bound roles that do
   * not exist.
   */
  policyRulesFor(user: User, namespace: string): { rules: PolicyRule[]; missing: RoleSlot[] } {
    const found = new Set<Binding>()
    this.#index.visit(user, namespace, (_, bindings) => {
      for (const binding of bindings) found.add(binding)
      return false
    })
    const rules: PolicyRule[] = []
    const missing: RoleSlot[] = []
    for (const { role } of [...found].sort(clusterFirst)) {
      if (role.rules === undefined) missing.push(role)
      else rules.push(...role.rules)
    }
    return { rules, missing }
  }

  /** The rules of a binding's role. Undefined if the role does not exist. */
  rulesOfRole(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#index.role(kind, namespace, name)?.rules
  }

  #allowedBy(bindings: Set<Binding>, user: User): Decision {
    const [binding] = bindings as Iterable<Binding> as [Binding]
    const ready = this.#decisions.get(binding)
    if (ready !== undefined) return ready
    const subject = subjectFor(binding, user) as Subject
    const decision: Decision = {
      decision: 'allow',
      reason: `RBAC: allowed by ${showBinding(binding)} to ${showSubject(subject, binding.namespace)}`,
    }
    // A binding with one subject has the same reason for all its users.
    if (binding.subjects.length === 1) this.#decisions.set(binding, decision)
    return decision
  }
}

const clusterFirst = (a: Binding, b: Binding): number =>
  Number(a.namespace !== '') - Number(b.namespace !== '') || a.order - b.order

function showBinding({ namespace, name, role }: Binding): string {
  const who =
    namespace === ''
      ? `ClusterRoleBinding ${goQuote(name)}`
      : `RoleBinding ${goQuote(`${name}/${namespace}`)}`
  return `${who} of ${role.kind} ${goQuote(role.name)}`
}

function showSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== 'ServiceAccount') return `${kind} ${goQuote(name)}`
  return `${kind} ${goQuote(`${name}/${namespace || bindingNamespace}`)}`
}

function roleError({ kind, name }: RoleSlot): string {
  if (kind !== 'ClusterRole' && kind !== 'Role')
    return `unsupported role reference kind: ${goQuote(kind)}`
  return `${kind.toLowerCase()}.${rbacGroup} ${goQuote(name)} not found`
}
