/** AppArmor profiles as fields; the annotations that came before them must agree. */
import { change } from '#api/releases/change.ts'
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { longerThan } from '#api/names.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { containersOf, containersWithPaths } from './containers-of.ts'

export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const localPrefix = 'localhost/'
const types = ['Localhost', 'RuntimeDefault', 'Unconfined']
/** The longest path of Linux. */
const profileLengthMax = 4095

export const appArmorIsField = change('pods have appArmorProfile', { since: 30 })

const whenLocal = 'must be set when AppArmor type is Localhost'

export function checkAppArmorProfile(
  profile: Loose | null | undefined,
  path: FieldPath,
): FieldError[] {
  if (!profile) return []
  const type: string = profile.type ?? ''
  const local: string | undefined = profile.localhostProfile ?? undefined
  const at = path.child('localhostProfile')
  if (type === '')
    return [required(path.child('type'), 'type is required when appArmorProfile is set')]
  if (!types.includes(type)) return [notSupported(path.child('type'), type, types)]
  if (type === 'Localhost') return checkLocalProfile(local, at)
  if (local === undefined) return []
  return [invalid(at, local, 'can only be set when AppArmor type is Localhost')]
}

function checkLocalProfile(local: string | undefined, path: FieldPath): FieldError[] {
  if (local === undefined) return [required(path, whenLocal)]
  const errors: FieldError[] = []
  const trimmed = local.trim()
  if (trimmed !== local) {
    errors.push(invalid(path, local, 'must not be padded with whitespace'))
  } else if (trimmed === '') errors.push(required(path, whenLocal))
  if (longerThan(local, profileLengthMax)) errors.push(tooLong(path, local, profileLengthMax))
  return errors
}

const isWindows = (spec: Loose): boolean => spec.os?.name === 'windows'

/**
 * Reports annotations that contradict fields. The field of a container overrides the field of the
 * pod.
 */
export function checkAppArmorAgreement(
  meta: ObjectMeta,
  spec: Loose,
  path: FieldPath,
): FieldError[] {
  const annotations = meta.annotations
  if (annotations === undefined || isWindows(spec)) return []
  return containersWithPaths(spec, path, true).flatMap(({ container, path: at }) => {
    const profile =
      container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile
    const key = appArmorPrefix + (container.name ?? '')
    if (!profile || !Object.hasOwn(annotations, key)) return []
    const fieldPath = at.child('securityContext', 'appArmorProfile')
    return disagreement(annotations[key] as string, profile, fieldPath)
  })
}

function disagreement(text: string, profile: Loose, path: FieldPath): FieldError[] {
  const wrongType = [
    forbidden(path.child('type'), 'apparmor type in annotation and field must match'),
  ]
  if (profile.type === 'Unconfined') return text === 'unconfined' ? [] : wrongType
  if (profile.type === 'RuntimeDefault') return text === 'runtime/default' ? [] : wrongType
  if (profile.type !== 'Localhost') return []
  if (!text.startsWith(localPrefix)) return wrongType
  if (text.slice(localPrefix.length) === profile.localhostProfile) return []
  const detail = 'apparmor profile in annotation and field must match'
  return [forbidden(path.child('localhostProfile'), detail)]
}

/** Converts an annotation into the field's value. */
export function profileOfAnnotation(text: string): Loose | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' }
  if (text === 'runtime/default') return { type: 'RuntimeDefault' }
  if (!text.startsWith(localPrefix)) return undefined
  const local = text.slice(localPrefix.length)
  return local === '' ? undefined : { type: 'Localhost', localhostProfile: local }
}

export const sameProfile = (a: Loose | null | undefined, b: Loose | undefined): boolean =>
  (a?.type ?? undefined) === b?.type &&
  (a?.localhostProfile ?? undefined) === (b?.localhostProfile ?? undefined)

/**
 * If only the annotation is set, the field is added. Returns warnings about annotations that fields
 * replace.
 */
export function syncAppArmor(pod: { metadata: ObjectMeta; spec: Loose }): string[] {
  const { annotations } = pod.metadata
  if (annotations === undefined || isWindows(pod.spec)) return []
  const warnings: string[] = []
  for (const container of containersOf(pod.spec)) {
    const key = appArmorPrefix + (container.name ?? '')
    if (!Object.hasOwn(annotations, key) || container.securityContext?.appArmorProfile) continue
    const made = profileOfAnnotation(annotations[key] as string)
    const profile = checkAppArmorProfile(made, FieldPath.root).length === 0 ? made : undefined
    if (profile !== undefined) {
      if (sameProfile(pod.spec.securityContext?.appArmorProfile, profile)) continue
      container.securityContext = { ...container.securityContext, appArmorProfile: profile }
    }
    warnings.push(replacedByField(FieldPath.of('metadata', 'annotations').key(key)))
  }
  return warnings
}

export const replacedByField = (path: FieldPath): string =>
  `${path}: deprecated since v1.30; use the "appArmorProfile" field instead`
