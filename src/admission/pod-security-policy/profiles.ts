/**
 * Seccomp and AppArmor profiles: applies the defaults in a policy's annotations to pods, and checks
 * the allowed profiles.
 */
import { type FieldError, forbidden } from '#api/field-error.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { containerSeccompPrefix, podSeccompKey } from '#kinds/pod-template/seccomp.ts'
import { ownValue } from '#kinds/own-key.ts'

const seccompAllowed = 'seccomp.security.alpha.kubernetes.io/allowedProfileNames'
const seccompDefault = 'seccomp.security.alpha.kubernetes.io/defaultProfileName'
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const appArmorAllowed = 'apparmor.security.beta.kubernetes.io/allowedProfileNames'
const appArmorDefault = 'apparmor.security.beta.kubernetes.io/defaultProfileName'
/** Two names of the same profile. */
const runtimeDefaults = ['runtime/default', 'docker/default']

const annotationsOf = ({ metadata }: KubeObject): Record<string, string> =>
  metadata.annotations ?? {}
const pathOf = (key: string) => `pod.metadata.annotations[${key}]`

/** Converts a field's profile to the annotation's format. */
function ofField({ type, localhostProfile }: Loose): string {
  if (type === 'Unconfined') return 'unconfined'
  if (type === 'RuntimeDefault') return 'runtime/default'
  return type === 'Localhost' && typeof localhostProfile === 'string'
    ? `localhost/${localhostProfile}`
    : ''
}

const podSeccomp = (pod: KubeObject): string => {
  const field = pod.spec.securityContext?.seccompProfile
  return annotationsOf(pod)[podSeccompKey] || (field ? ofField(field) : '')
}

function containerSeccomp(pod: KubeObject, container: Loose): string {
  const own = container.securityContext?.seccompProfile
  if (own) return ofField(own)
  const annotated = ownValue(annotationsOf(pod), `${containerSeccompPrefix}${container.name}`)
  if (annotated !== undefined) return annotated
  const field = pod.spec.securityContext?.seccompProfile
  return field ? ofField(field) : (annotationsOf(pod)[podSeccompKey] ?? '')
}

export function applyDefaultProfiles(
  policy: KubeObject,
  pod: KubeObject,
  containers: Iterable<Loose>,
): void {
  // A profile in the field takes effect even if no annotation can express it.
  const given = podSeccomp(pod) || (pod.spec.securityContext?.seccompProfile ? '' : undefined)
  const seccomp = given ?? annotationsOf(policy)[seccompDefault] ?? ''
  if (seccomp !== '') pod.metadata.annotations = { ...annotationsOf(pod), [podSeccompKey]: seccomp }
  const appArmor = annotationsOf(policy)[appArmorDefault] ?? ''
  if (appArmor === '') return
  for (const { name } of containers) {
    const key = `${appArmorPrefix}${name}`
    if (!ownValue(annotationsOf(pod), key))
      pod.metadata.annotations = { ...annotationsOf(pod), [key]: appArmor }
  }
}

function seccompProblems(policy: KubeObject, key: string, profile: string): FieldError[] {
  const text = annotationsOf(policy)[seccompAllowed]
  const names = text === undefined ? [] : text.split(',')
  const any = names.includes('*')
  const allowed = new Set(names.filter((name) => name !== '*'))
  if (runtimeDefaults.some((name) => allowed.has(name)))
    for (const name of runtimeDefaults) allowed.add(name)
  if (!any && allowed.size === 0 && profile !== '')
    return [forbidden(pathOf(key), 'seccomp may not be set')]
  if ((allowed.size === 0 && profile === '') || any || allowed.has(profile)) return []
  return [
    forbidden(
      pathOf(key),
      `${profile} is not an allowed seccomp profile. Valid values are ${text}`,
    ),
  ]
}

export const podProfileProblems = (policy: KubeObject, pod: KubeObject): FieldError[] =>
  seccompProblems(policy, podSeccompKey, podSeccomp(pod))

export function containerProfileProblems(
  policy: KubeObject,
  pod: KubeObject,
  container: Loose,
): FieldError[] {
  return [
    ...appArmorProblems(policy, pod, container),
    ...seccompProblems(
      policy,
      `${containerSeccompPrefix}${container.name}`,
      containerSeccomp(pod, container),
    ),
  ]
}

function appArmorProblems(policy: KubeObject, pod: KubeObject, { name }: Loose): FieldError[] {
  const text = annotationsOf(policy)[appArmorAllowed]
  if (text === undefined) return []
  const key = `${appArmorPrefix}${name}`
  const profile = ownValue(annotationsOf(pod), key) ?? ''
  if (profile === '') return [forbidden(pathOf(key), 'AppArmor profile must be set')]
  if (text.split(',').includes(profile)) return []
  return [
    forbidden(
      pathOf(key),
      `${profile} is not an allowed profile. Allowed values: ${goQuote(text)}`,
    ),
  ]
}
