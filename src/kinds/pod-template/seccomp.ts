/**
 * Seccomp profiles, as fields and as the annotations that came before them; where both are set they
 * must agree.
 */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import { containersOf, containersWithPaths } from './containers-of.ts'
import { checkDescendingPath } from './volume-paths.ts'

export const podSeccompKey = 'seccomp.security.alpha.kubernetes.io/pod'
export const containerSeccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/'
const localPrefix = 'localhost/'
const types = ['Localhost', 'RuntimeDefault', 'Unconfined']

export function checkSeccompProfile(
  profile: Loose | null | undefined,
  path: FieldPath,
): FieldError[] {
  if (!profile) return []
  const errors: FieldError[] = []
  const type: string = profile.type ?? ''
  const local = profile.localhostProfile ?? undefined
  if (type === '') {
    errors.push(required(path.child('type'), 'type is required when seccompProfile is set'))
  } else if (!types.includes(type)) {
    errors.push(notSupported(path.child('type'), type, types))
  }
  const at = path.child('localhostProfile')
  if (type !== 'Localhost') {
    if (local === undefined) return errors
    const shown = goStruct('core.SeccompProfile', [
      ['Type', goQuote(type)],
      ['LocalhostProfile', goPointer('string', local)],
    ])
    errors.push(invalid(at, asGo(shown), 'can only be set when seccomp type is Localhost'))
  } else if (local === undefined) {
    errors.push(required(at, 'must be set when seccomp type is Localhost'))
  } else {
    errors.push(...checkDescendingPath(local, at))
  }
  return errors
}

/** A profile as the annotations and pod security policies write it. */
export function checkSeccompText(text: string, path: FieldPath): FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(text)) return []
  if (text.startsWith(localPrefix)) return checkDescendingPath(text.slice(localPrefix.length), path)
  return [invalid(path, text, 'must be a valid seccomp profile')]
}

export function checkSeccompAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (Object.hasOwn(annotations, podSeccompKey)) {
    errors.push(
      ...checkSeccompText(annotations[podSeccompKey] as string, path.child(podSeccompKey)),
    )
  }
  for (const key of Object.keys(annotations)) {
    if (!key.startsWith(containerSeccompPrefix)) continue
    errors.push(...checkSeccompText(annotations[key] as string, path.child(key)))
  }
  return errors
}

/** Reports annotations that contradict fields. */
export function checkSeccompAgreement(
  meta: ObjectMeta,
  spec: Loose,
  path: FieldPath,
  ephemeral: boolean,
): FieldError[] {
  const annotations = meta.annotations
  if (annotations === undefined) return []
  const check = (context: Loose | undefined, key: string, at: FieldPath): FieldError[] => {
    const profile = context?.seccompProfile
    if (!profile || !Object.hasOwn(annotations, key)) return []
    const fieldPath = at.child('securityContext', 'seccompProfile')
    return disagreement(annotations[key] as string, profile, fieldPath)
  }
  return [
    ...check(spec.securityContext, podSeccompKey, path),
    ...containersWithPaths(spec, path, ephemeral).flatMap(({ container, path: at }) =>
      check(container.securityContext, containerSeccompPrefix + (container.name ?? ''), at),
    ),
  ]
}

function disagreement(text: string, profile: Loose, path: FieldPath): FieldError[] {
  const wrongType = [
    forbidden(path.child('type'), 'seccomp type in annotation and field must match'),
  ]
  if (profile.type === 'Unconfined') return text === 'unconfined' ? [] : wrongType
  if (profile.type === 'RuntimeDefault') {
    return text === 'runtime/default' || text === 'docker/default' ? [] : wrongType
  }
  if (profile.type !== 'Localhost') return []
  if (!text.startsWith(localPrefix)) return wrongType
  if (text.slice(localPrefix.length) === profile.localhostProfile) return []
  const detail = 'seccomp profile in annotation and field must match'
  return [forbidden(path.child('localhostProfile'), detail)]
}

/**
 * Keeps seccomp fields and annotations consistent. If only one is set, the other is added, so that
 * older and newer kubelets understand the pod.
 */
export function syncSeccomp(pod: { metadata: ObjectMeta; spec: Loose }, ephemeral: boolean): void {
  const { annotations } = pod.metadata
  const added = new Map<string, string>()
  const sync = (holder: Loose, key: string) => {
    const profile = holder.securityContext?.seccompProfile
    const text = added.get(key) ?? ownValue(annotations, key)
    if (profile && text === undefined) {
      const made = annotationOf(profile)
      if (made !== '') added.set(key, made)
    } else if (text !== undefined && !profile) {
      const field = profileOf(text)
      if (field !== undefined) {
        holder.securityContext = { ...holder.securityContext, seccompProfile: field }
      }
    }
  }
  sync(pod.spec, podSeccompKey)
  const spec = ephemeral ? pod.spec : { ...pod.spec, ephemeralContainers: [] }
  for (const container of containersOf(spec)) {
    sync(container, containerSeccompPrefix + (container.name ?? ''))
  }
  if (added.size === 0) return
  // Keys of annotations are the user's: all of them are defined at once, for there may be one for
  // each container.
  pod.metadata.annotations = Object.fromEntries([...Object.entries(annotations ?? {}), ...added])
}

function annotationOf(profile: Loose): string {
  if (profile.type === 'Unconfined') return 'unconfined'
  if (profile.type === 'RuntimeDefault') return 'runtime/default'
  const local = profile.localhostProfile ?? undefined
  return profile.type === 'Localhost' && local !== undefined ? localPrefix + local : ''
}

function profileOf(text: string): Loose | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' }
  if (text === 'runtime/default' || text === 'docker/default') return { type: 'RuntimeDefault' }
  if (!text.startsWith(localPrefix) || text === localPrefix) return undefined
  return { type: 'Localhost', localhostProfile: text.slice(localPrefix.length) }
}
