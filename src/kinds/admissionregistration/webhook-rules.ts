/** Which requests a webhook is called for: operations, groups, versions, resources and scope. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkOneOfIfSet } from '#kinds/all-kinds/checks.ts'

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

export function checkWebhookRule(rule: Loose, path: FieldPath): FieldError[] {
  return [
    ...checkOperations(rule.operations ?? [], path.child('operations')),
    ...checkAlone(rule.apiGroups ?? [], 'API groups', path.child('apiGroups')),
    ...checkVersions(rule.apiVersions ?? [], path.child('apiVersions')),
    ...checkResources(rule.resources ?? [], path.child('resources')),
    ...checkOneOfIfSet(rule.scope, scopes, path.child('scope')),
  ]
}

/** Something must be there, and `*` only by itself. */
function checkAlone(list: string[], what: string, path: FieldPath, type = 'string'): FieldError[] {
  const errors: FieldError[] = list.length === 0 ? [required(path)] : []
  if (list.length > 1 && list.includes('*')) {
    const detail = `if '*' is present, must not specify other ${what}`
    errors.push(invalid(path, asGo(goStrings(list, type)), detail))
  }
  return errors
}

function checkOperations(list: string[], path: FieldPath): FieldError[] {
  const errors = checkAlone(list, 'operations', path, 'admissionregistration.OperationType')
  for (const [i, operation] of list.entries()) {
    if (operations.includes(operation)) continue
    errors.push(notSupported(path.index(i), operation, operations))
  }
  return errors
}

const checkVersions = (list: string[], path: FieldPath): FieldError[] => [
  ...checkAlone(list, 'API versions', path),
  ...list.flatMap((version, i) => (version === '' ? [required(path.index(i))] : [])),
]

// Validates `pods`, `pods/status`, `pods/*` or `*`. An entry must not be covered by an earlier one.
function checkResources(list: string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = list.length === 0 ? [required(path)] : []
  const anySubresourceOf = new Set<string>()
  const subresourceOfAny = new Set<string>()
  let hasPlain = false
  for (const [i, entry] of list.entries()) {
    if (entry === '') {
      errors.push(required(path.index(i)))
      continue
    }
    const slash = entry.indexOf('/')
    if (slash < 0) {
      hasPlain = entry !== '*'
      continue
    }
    const [resource, subresource] = [entry.slice(0, slash), entry.slice(slash + 1)]
    const covered = (by: string) =>
      errors.push(invalid(path.index(i), entry, `if '${by}' is present, must not specify ${entry}`))
    if (anySubresourceOf.has(resource)) covered(`${resource}/*`)
    if (subresourceOfAny.has(subresource)) covered(`*/${subresource}`)
    if (subresource === '*') anySubresourceOf.add(resource)
    if (resource === '*') subresourceOfAny.add(subresource)
  }
  const shown = asGo(goStrings(list))
  if (list.length > 1 && list.includes('*/*')) {
    errors.push(invalid(path, shown, "if '*/*' is present, must not specify other resources"))
  }
  if (list.includes('*') && hasPlain) {
    const detail = "if '*' is present, must not specify other resources without subresources"
    errors.push(invalid(path, shown, detail))
  }
  return errors
}
