/** Validation of an ingress path by its pathType. The backend is validated elsewhere. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']

export function checkTypedPath(one: Loose, path: FieldPath): FieldError[] {
  const { pathType, path: text = '' } = one
  if (typeof pathType !== 'string') {
    return [required(path.child('pathType'), 'pathType must be specified')]
  }
  if (!pathTypes.includes(pathType)) {
    return [notSupported(path.child('pathType'), pathType, pathTypes)]
  }
  const at = path.child('path')
  if (pathType !== 'ImplementationSpecific') return each(at, text, exactPathProblems(text))
  const isAbsolute = text === '' || text.startsWith('/')
  return isAbsolute ? [] : [invalid(at, text, 'must be an absolute path')]
}

function exactPathProblems(text: string): string[] {
  const problems = text.startsWith('/') ? [] : ['must be an absolute path']
  for (const part of ['//', '/./', '/../', '%2f', '%2F']) {
    if (text.includes(part)) problems.push(`must not contain '${part}'`)
  }
  for (const end of ['/..', '/.']) {
    if (text.endsWith(end)) problems.push(`cannot end with '${end}'`)
  }
  return problems
}
