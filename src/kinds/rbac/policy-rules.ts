/**
 * The contents of roles and bindings: policy rules, role references and subjects. Permissions are
 * not checked here.
 */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStrings, goStruct } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain, pathSegmentName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { each } from '#kinds/all-kinds/checks.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

export function checkPolicyRules(
  rules: Loose[] | null | undefined,
  namespaced: boolean,
): FieldError[] {
  const path = FieldPath.of('rules')
  return (rules ?? []).flatMap((rule, i) => checkPolicyRule(rule, namespaced, path.index(i)))
}

const empty = (list: unknown[] | null | undefined): boolean => (list ?? []).length === 0

function checkPolicyRule(rule: Loose, namespaced: boolean, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (empty(rule.verbs)) {
    errors.push(required(path.child('verbs'), 'verbs must contain at least one value'))
  }
  if (!empty(rule.nonResourceURLs)) {
    const urls = path.child('nonResourceURLs')
    const shown = asGo(goStrings(rule.nonResourceURLs))
    if (namespaced) {
      errors.push(invalid(urls, shown, 'namespaced rules cannot apply to non-resource URLs'))
    }
    if (!empty(rule.apiGroups) || !empty(rule.resources) || !empty(rule.resourceNames)) {
      const both = 'rules cannot apply to both regular resources and non-resource URLs'
      errors.push(invalid(urls, shown, both))
    }
    return errors
  }
  if (empty(rule.apiGroups)) {
    const detail = 'resource rules must supply at least one api group'
    errors.push(required(path.child('apiGroups'), detail))
  }
  if (empty(rule.resources)) {
    const detail = 'resource rules must supply at least one resource'
    errors.push(required(path.child('resources'), detail))
  }
  return errors
}

/** The checks of a binding: its role and its subjects. */
export function checkBinding(
  binding: Loose,
  roleKinds: string[],
  namespaced: boolean,
): FieldError[] {
  const path = FieldPath.of('roleRef')
  const ref = binding.roleRef ?? {}
  const errors: FieldError[] = []
  if (ref.apiGroup !== rbacGroup) {
    errors.push(notSupported(path.child('apiGroup'), ref.apiGroup ?? '', [rbacGroup]))
  }
  if (!roleKinds.includes(ref.kind)) {
    errors.push(notSupported(path.child('kind'), ref.kind ?? '', roleKinds))
  }
  if (!ref.name) errors.push(required(path.child('name')))
  else errors.push(...each(path.child('name'), ref.name, pathSegmentName(ref.name)))
  for (const [i, subject] of (binding.subjects ?? []).entries()) {
    errors.push(...checkSubject(subject, namespaced, FieldPath.of('subjects').index(i)))
  }
  return errors
}

function checkSubject(subject: Loose, namespaced: boolean, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const name: string = subject.name ?? ''
  const group: string = subject.apiGroup ?? ''
  if (name === '') errors.push(required(path.child('name')))
  if (subject.kind === 'ServiceAccount') {
    if (name !== '') errors.push(...each(path.child('name'), name, nameIsDnsSubdomain(name, false)))
    if (group !== '') errors.push(notSupported(path.child('apiGroup'), group, ['']))
    if (!namespaced && !subject.namespace) errors.push(required(path.child('namespace')))
  } else if (subject.kind === 'User' || subject.kind === 'Group') {
    if (group !== rbacGroup) errors.push(notSupported(path.child('apiGroup'), group, [rbacGroup]))
  } else {
    const kinds = ['ServiceAccount', 'User', 'Group']
    errors.push(notSupported(path.child('kind'), subject.kind ?? '', kinds))
  }
  return errors
}

const rolesAreImmutable = change('a binding reports a changed role as an immutable field', {
  since: 37,
})

export function checkSameRole(next: Loose, old: Loose, release: number): FieldError[] {
  const fields = ['apiGroup', 'kind', 'name'] as const
  const [now, then] = [next.roleRef ?? {}, old.roleRef ?? {}]
  if (fields.every((field) => (now[field] ?? '') === (then[field] ?? ''))) return []
  const shown = goStruct('rbac.RoleRef', [
    ['APIGroup', goQuote(now.apiGroup ?? '')],
    ['Kind', goQuote(now.kind ?? '')],
    ['Name', goQuote(now.name ?? '')],
  ])
  const words = releaseOf(release).has(rolesAreImmutable)
    ? immutableMessage
    : 'cannot change roleRef'
  return [invalid('roleRef', asGo(shown), words)]
}
