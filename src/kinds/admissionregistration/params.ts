/** The parameters of policies: their kind, and which objects of it a binding uses. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { selectorValuesAreChecked, validateLabelSelector } from '#api/label-rules.ts'
import { dns1035Label, dns1123Subdomain, pathSegmentName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { each } from '#kinds/all-kinds/checks.ts'

export const selectsParams = change(
  'bindings of admission policies select parameters by their labels',
  {
    since: 28,
  },
)

export function checkParamKind(
  { apiVersion = '', kind = '' }: Loose,
  path: FieldPath,
): FieldError[] {
  const errors = checkApiVersion(apiVersion, path.child('apiVersion'))
  const at = path.child('kind')
  if (kind === '') return [...errors, required(at)]
  const problems = dns1035Label(kind.toLowerCase())
  if (problems.length === 0) return errors
  const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`
  return [...errors, invalid(at, kind, detail)]
}

function checkApiVersion(apiVersion: string, path: FieldPath): FieldError[] {
  if (apiVersion === '') return [required(path)]
  const parts = apiVersion.split('/')
  if (parts.length > 2)
    return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const version = parts.at(-1) as string
  const group = parts.length === 2 ? (parts[0] as string) : ''
  const joined = (value: string, problems: readonly string[]) =>
    problems.length === 0 ? [] : [invalid(path, value, problems.join(','))]
  return [
    ...(group === '' ? [] : joined(group, dns1123Subdomain(group))),
    ...(version === ''
      ? [invalid(path, apiVersion, 'version must be specified')]
      : joined(version, dns1035Label(version))),
  ]
}

const exclusive = 'name and selector are mutually exclusive'

export function checkParamRef(
  ref: Loose | null | undefined,
  path: FieldPath,
  release: Release,
): FieldError[] {
  if (ref === undefined || ref === null) return []
  const { name = '', selector, parameterNotFoundAction: action = '' } = ref
  if (!release.has(selectsParams)) return each(path.child('name'), name, pathSegmentName(name))
  const hasSelector = selector !== undefined && selector !== null
  const errors: FieldError[] = []
  if (name !== '') {
    errors.push(...each(path.child('name'), name, pathSegmentName(name)))
    if (hasSelector) errors.push(forbidden(path.child('name'), exclusive))
  }
  if (hasSelector) {
    errors.push(
      ...validateLabelSelector(
        selector,
        path.child('selector'),
        release.has(selectorValuesAreChecked),
      ),
    )
    if (name !== '') errors.push(forbidden(path.child('selector'), exclusive))
  }
  if (name === '' && !hasSelector)
    errors.push(required(path, 'one of name or selector must be specified'))
  const at = path.child('parameterNotFoundAction')
  if (!action) errors.push(required(at))
  else if (action !== 'Deny' && action !== 'Allow')
    errors.push(notSupported(at, action, ['Deny', 'Allow']))
  return errors
}
