/** The rules of a flow schema: for which users, and for which requests. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { nameIsDnsLabel, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'

const verbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'proxy',
  'update',
  'watch',
]
/** Kind, and the field that belongs to it. */
const subjectFields: readonly (readonly [string, string])[] = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
]

export function checkSubject(subject: Loose, path: FieldPath): FieldError[] {
  const own = subjectFields.find(([kind]) => kind === subject.kind)
  if (own === undefined) {
    const kinds = ['Group', 'ServiceAccount', 'User']
    return [notSupported(path.child('kind'), subject.kind ?? '', kinds)]
  }
  const [kind, field] = own
  const at = path.child(field)
  const errors: FieldError[] = []
  if (!subject[field])
    errors.push(required(at, `${field} is required when subject kind is '${kind}'`))
  else if (kind === 'ServiceAccount') errors.push(...checkServiceAccount(subject[field], at))
  else if (!subject[field].name) errors.push(required(at.child('name')))
  for (const [otherKind, other] of subjectFields) {
    if (other === field || !subject[other]) continue
    const detail = `${other} is forbidden when subject kind is not '${otherKind}'`
    errors.push(forbidden(path.child(other), detail))
  }
  return errors
}

function checkServiceAccount({ name = '', namespace = '' }: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (name === '') errors.push(required(path.child('name')))
  else if (name !== '*') {
    errors.push(...each(path.child('name'), name, nameIsDnsSubdomain(name, false)))
  }
  const at = path.child('namespace')
  if (namespace !== '') return [...errors, ...each(at, namespace, nameIsDnsLabel(namespace, false))]
  return [...errors, required(at, 'must specify namespace for service account')]
}

/** `*` cannot be combined with other values. */
function checkAlone(list: string[], what: string, path: FieldPath): FieldError[] {
  if (list.length < 2 || !list.includes('*')) return []
  const detail = `if '*' is present, must not specify other ${what}`
  return [invalid(path, asGo(goStrings(list)), detail)]
}

function checkVerbs(list: string[], path: FieldPath): FieldError[] {
  if (list.length === 0) return [required(path, 'verbs must contain at least one value')]
  if (list.includes('*')) return checkAlone(list, 'verbs', path)
  if (list.every((verb) => verbs.includes(verb))) return []
  return [notSupported(path, asGo(goStrings(list)), verbs)]
}

export function checkNonResourceRule(rule: Loose, path: FieldPath): FieldError[] {
  const urls: string[] = rule.nonResourceURLs ?? []
  const at = path.child('nonResourceURLs')
  const errors = checkVerbs(rule.verbs ?? [], path.child('verbs'))
  if (urls.length === 0) {
    errors.push(required(at, 'nonResourceURLs must contain at least one value'))
  } else if (urls.includes('*')) {
    errors.push(...checkAlone(urls, 'non-resource URLs', at))
  } else {
    for (const [i, url] of urls.entries()) {
      const problem = urlProblem(url)
      if (problem !== undefined) errors.push(invalid(at.index(i), url, problem))
    }
  }
  return errors
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const stars = url.split('*').length - 1
  if (stars > 1 || (stars === 1 && !url.endsWith('/*'))) {
    return 'wildcard can only do suffix matching'
  }
  return undefined
}

export function checkResourceRule(rule: Loose, path: FieldPath): FieldError[] {
  const errors = checkVerbs(rule.verbs ?? [], path.child('verbs'))
  const lists: [string, string, string][] = [
    ['apiGroups', 'resource rules must supply at least one api group', 'api groups'],
    ['resources', 'resource rules must supply at least one resource', 'resources'],
  ]
  for (const [field, missing, what] of lists) {
    const list: string[] = rule[field] ?? []
    const at = path.child(field)
    if (list.length === 0) errors.push(required(at, missing))
    else errors.push(...checkAlone(list, what, at))
  }
  return [...errors, ...checkNamespaces(rule, path.child('namespaces'))]
}

function checkNamespaces(rule: Loose, path: FieldPath): FieldError[] {
  const list: string[] = rule.namespaces ?? []
  if (list.length === 0 && !rule.clusterScope) {
    const detail = 'resource rules that are not cluster scoped must supply at least one namespace'
    return [required(path, detail)]
  }
  if (list.includes('*')) return checkAlone(list, 'namespaces', path)
  const intro = "each member of this list must be '*' or a DNS-1123 label; "
  return list.flatMap((namespace, i) =>
    nameIsDnsLabel(namespace, false).map((problem) =>
      invalid(path.index(i), namespace, `${intro}${problem}`),
    ),
  )
}
