/**
 * Every role and binding, indexed by subject: user, group or service account (by its user name). A
 * decision reads only the bindings of the user and its groups, so its cost does not depend on the
 * total number of bindings.
 *
 *   byUser:  alice → { role view → {binding a, binding b}, role edit → {binding c} }
 *
 * A binding points to a slot of its role. The slot exists even without the role, so creating,
 * changing or deleting a role does not touch the bindings.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { User } from '#access/user.ts'
import { serviceAccountUserName } from '#access/service-account-name.ts'
import type { PolicyRule } from './policy-rule.ts'

export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export interface RoleSlot {
  readonly kind: string
  readonly name: string
  /** Undefined if the role does not exist. */
  rules: readonly PolicyRule[] | undefined
  bindings: number
}

export interface Binding {
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly role: RoleSlot
  readonly subjects: readonly Subject[]
  /** The order in which the bindings were first seen, which keeps lists of rules stable. */
  readonly order: number
}

type BoundRoles = Map<RoleSlot, Set<Binding>>

interface Scope {
  readonly byUser: Map<string, BoundRoles>
  readonly byGroup: Map<string, BoundRoles>
}

const emptyScope = (): Scope => ({ byUser: new Map(), byGroup: new Map() })

export class RoleIndex {
  readonly #roles = new Map<string, RoleSlot>()
  readonly #bindings = new Map<string, Binding>()
  readonly #cluster = emptyScope()
  readonly #namespaces = new Map<string, Scope>()
  #arrivals = 0

  setRole(namespace: string, name: string, rules: readonly PolicyRule[] | null | undefined): void {
    this.#slot(namespace === '' ? 'ClusterRole' : 'Role', namespace, name).rules = rules ?? []
  }

  removeRole(namespace: string, name: string): void {
    const key = roleKey(namespace === '' ? 'ClusterRole' : 'Role', namespace, name)
    const slot = this.#roles.get(key)
    if (slot === undefined) return
    slot.rules = undefined
    if (slot.bindings === 0) this.#roles.delete(key)
  }

  /** The slot of a role. Undefined if neither the role nor a binding to it exists. */
  role(kind: string, namespace: string, name: string): RoleSlot | undefined {
    return this.#roles.get(roleKey(kind, namespace, name))
  }

  setBinding(object: KubeObject): void {
    const { namespace = '', name = '' } = object.metadata
    const before = this.#remove(namespace, name)
    const { kind = '', name: roleName = '' } = object.roleRef ?? {}
    const role = this.#slot(kind, namespace, roleName)
    role.bindings++
    const binding: Binding = {
      namespace,
      name,
      role,
      subjects: object.subjects ?? [],
      order: before?.order ?? this.#arrivals++,
    }
    this.#bindings.set(bindingKey(namespace, name), binding)
    for (const { map, key } of this.#places(binding, true)) {
      const roles = map.get(key) ?? new Map<RoleSlot, Set<Binding>>()
      map.set(key, roles)
      const set = roles.get(role)
      if (set === undefined) roles.set(role, new Set([binding]))
      else set.add(binding)
    }
  }

  removeBinding(namespace: string, name: string): void {
    this.#remove(namespace, name)
  }

  /**
   * Calls `stop` with each role bound to the user: first cluster-wide, then in the namespace. Ends
   * when `stop` returns true. Visits a role several times if it is bound both to the user and to a
   * group.
   */
  visit(
    user: User,
    namespace: string,
    stop: (role: RoleSlot, bindings: Set<Binding>) => boolean,
  ): boolean {
    if (visitScope(this.#cluster, user, stop)) return true
    if (namespace === '') return false
    const scope = this.#namespaces.get(namespace)
    return scope !== undefined && visitScope(scope, user, stop)
  }

  #slot(kind: string, namespace: string, name: string): RoleSlot {
    const key = roleKey(kind, namespace, name)
    let slot = this.#roles.get(key)
    if (slot === undefined) {
      slot = { kind, name, rules: undefined, bindings: 0 }
      this.#roles.set(key, slot)
    }
    return slot
  }

  #remove(namespace: string, name: string): Binding | undefined {
    const id = bindingKey(namespace, name)
    const binding = this.#bindings.get(id)
    if (binding === undefined) return undefined
    this.#bindings.delete(id)
    for (const { map, key } of this.#places(binding, false)) {
      const roles = map.get(key)
      const set = roles?.get(binding.role)
      set?.delete(binding)
      if (set?.size === 0) roles?.delete(binding.role)
      if (roles?.size === 0) map.delete(key)
    }
    const scope = this.#namespaces.get(namespace)
    if (scope?.byUser.size === 0 && scope.byGroup.size === 0) this.#namespaces.delete(namespace)
    const { role } = binding
    if (--role.bindings === 0 && role.rules === undefined)
      this.#roles.delete(roleKey(role.kind, namespace, role.name))
    return binding
  }

  *#places(
    binding: Binding,
    make: boolean,
  ): Generator<{ map: Map<string, BoundRoles>; key: string }> {
    let scope: Scope | undefined = this.#cluster
    if (binding.namespace !== '') {
      scope = this.#namespaces.get(binding.namespace)
      if (scope === undefined && make) {
        scope = emptyScope()
        this.#namespaces.set(binding.namespace, scope)
      }
    }
    if (scope === undefined) return
    for (const subject of binding.subjects) {
      if (subject.kind === 'Group') yield { map: scope.byGroup, key: subject.name }
      const user = userOf(subject, binding.namespace)
      if (user !== undefined) yield { map: scope.byUser, key: user }
    }
  }
}

/** The user name of a subject. Undefined for groups and invalid subjects. */
function userOf({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User') return name
  if (kind !== 'ServiceAccount') return undefined
  const home = namespace !== undefined && namespace !== '' ? namespace : bindingNamespace
  return home === '' ? undefined : serviceAccountUserName(home, name)
}

/** The first subject of a binding that matches this user or one of its groups. */
export function subjectFor(binding: Binding, user: User): Subject | undefined {
  return binding.subjects.find((subject) =>
    subject.kind === 'Group'
      ? user.groups.includes(subject.name)
      : userOf(subject, binding.namespace) === user.name,
  )
}

function visitScope(
  { byUser, byGroup }: Scope,
  user: User,
  stop: (role: RoleSlot, bindings: Set<Binding>) => boolean,
): boolean {
  if (visitRoles(byUser.get(user.name), stop)) return true
  for (const group of user.groups) if (visitRoles(byGroup.get(group), stop)) return true
  return false
}

function visitRoles(
  roles: BoundRoles | undefined,
  stop: (role: RoleSlot, bindings: Set<Binding>) => boolean,
): boolean {
  if (roles === undefined) return false
  for (const [role, bindings] of roles) if (stop(role, bindings)) return true
  return false
}

/** ClusterRoles have no namespace. A Role is in the namespace of the binding that refers to it. */
const roleKey = (kind: string, namespace: string, name: string): string =>
  kind === 'ClusterRole' ? `C/${name}` : `${kind}/${namespace}/${name}`
const bindingKey = (namespace: string, name: string): string => `${namespace}/${name}`
