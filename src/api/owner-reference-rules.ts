/** Validation of owner references. It does not check that the owners exist. */
import { type FieldError, invalid, required } from './field-error.ts'
import type { FieldPath } from './field-path.ts'
import { asGo, goJson, goList, goPointer, goQuote, goStruct, type GoText } from './go-syntax.ts'
import type { OwnerReference } from './object-meta.ts'
import { change } from './releases/change.ts'

const namesOwner = change('errors of owner references name the reference', { since: 37 })
const shortOwnerErrors = change('errors of owner references do not repeat the field', {
  since: 34,
})
const namesKindOfController = change('the error of two controllers names their kinds', {
  since: 26,
})

export function validateOwnerReferences(
  owners: readonly OwnerReference[],
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  let controller: OwnerReference | undefined
  let shown: GoText | undefined
  for (const [i, owner] of owners.entries()) {
    errors.push(...validateOwnerReference(owner, path, i))
    if (!owner.controller) continue
    if (controller === undefined) {
      controller = owner
      continue
    }
    // All errors share one text, because it is as long as the list.
    shown ??= asGo(goList('v1.OwnerReference', owners.map(shownOwner)))
    errors.push(secondController(path, shown, controller, owner))
  }
  return errors
}

function secondController(
  path: FieldPath,
  shown: GoText,
  first: OwnerReference,
  second: OwnerReference,
): FieldError {
  const begin = 'Only one reference can have Controller set to true. Found "true" in references for'
  const names = `${begin} ${first.name} and ${second.name}`
  const kinds = `${begin} ${first.kind}/${first.name} and ${second.kind}/${second.name}`
  const older = { before: namesKindOfController, error: invalid(path, shown, names) }
  return { ...invalid(path, shown, kinds), older }
}

const fields = ['kind', 'name', 'uid'] as const

function validateOwnerReference(owner: OwnerReference, path: FieldPath, i: number): FieldError[] {
  const errors: FieldError[] = []
  const at = path.index(i)
  const { apiVersion = '', kind = '' } = owner
  if (versionOf(apiVersion) === '') errors.push(wrongVersion(apiVersion, path, i))
  for (const field of fields) {
    if (owner[field]) continue
    const error = (detail: string) => invalid(path.child(field), '', detail)
    const older = { before: shortOwnerErrors, error: error(`${field} must not be empty`) }
    const unnamed = { ...error('must not be empty'), older }
    const newest = required(at.child(field), 'must not be empty')
    errors.push({ ...newest, older: { before: namesOwner, error: unnamed } })
  }
  if (apiVersion === 'v1' && kind === 'Event') {
    const detail = '/v1, Kind=Event is disallowed from being an owner'
    const error = invalid(path, asGo(shownOwner(owner)), detail)
    errors.push({ ...error, field: at.toString(), older: { before: namesOwner, error } })
  }
  return errors
}

function wrongVersion(apiVersion: string, path: FieldPath, i: number): FieldError {
  const at = path.index(i).child('apiVersion')
  const error = invalid(path.child('apiVersion'), apiVersion, 'version must not be empty')
  const newest =
    apiVersion === ''
      ? required(at, 'must not be empty')
      : invalid(at, apiVersion, 'must be <group>/<version> or <version>')
  return { ...newest, older: { before: namesOwner, error } }
}

/** The version in an apiVersion; empty if it has two or more slashes. */
function versionOf(apiVersion: string): string {
  const parts = apiVersion.split('/')
  return parts.length > 2 ? '' : (parts.at(-1) as string)
}

function shownOwner(owner: OwnerReference): GoText {
  const { apiVersion = '', kind = '', name = '', uid = '', controller, blockOwnerDeletion } = owner
  const members = Object.entries({ apiVersion, kind, name, uid, controller, blockOwnerDeletion })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => `${goJson(key)}:${goJson(value)}`)
  return asGo(
    goStruct('v1.OwnerReference', [
      ['APIVersion', goQuote(apiVersion)],
      ['Kind', goQuote(kind)],
      ['Name', goQuote(name)],
      ['UID', goQuote(uid)],
      ['Controller', goPointer('bool', controller)],
      ['BlockOwnerDeletion', goPointer('bool', blockOwnerDeletion)],
    ]),
    `{${members.join(',')}}`,
  )
}
