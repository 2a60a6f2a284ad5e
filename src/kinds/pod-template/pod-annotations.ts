/**
 * Annotations with a meaning for pods: mirror pods, deletion cost, old tolerations, seccomp and
 * AppArmor.
 */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { appArmorPrefix } from './app-armor.ts'
import { containersWithPaths } from './containers-of.ts'
import { isDeletionCost, type PodRules } from './pod-rules.ts'
import { checkTolerations } from './scheduling.ts'
import { checkSeccompAnnotations } from './seccomp.ts'

const loadTyped = loadLater<typeof import('#kinds/all-kinds/typed-annotation.ts')>(
  import.meta.url,
  '#kinds/all-kinds/typed-annotation',
)

type Annotations = Readonly<Record<string, string>>

const mirrorKey = 'kubernetes.io/config.mirror'

/** Whether the pod is a mirror pod: the API object of a static pod of a kubelet. */
export const isMirrorPod = ({ metadata }: KubeObject): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, mirrorKey)

const tolerationsKey = 'scheduler.alpha.kubernetes.io/tolerations'
const deletionCostKey = 'controller.kubernetes.io/pod-deletion-cost'

export function checkPodAnnotations(
  annotations: Annotations | undefined,
  spec: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  if (annotations === undefined) return []
  const errors: FieldError[] = []
  if (Object.hasOwn(annotations, mirrorKey) && !spec.nodeName) {
    const detail = 'must set spec.nodeName if mirror pod annotation is set'
    errors.push(invalid(path.key(mirrorKey), annotations[mirrorKey], detail))
  }
  if (annotations[tolerationsKey]) {
    errors.push(...checkTolerationsText(annotations[tolerationsKey], path, rules))
  }
  if (!rules.allowAnyDeletionCost && !isDeletionCost(annotations)) {
    const cost = annotations[deletionCostKey]
    errors.push(invalid(path.key(deletionCostKey), cost, 'must be a 32bit integer'))
  }
  errors.push(...checkSeccompAnnotations(annotations, path))
  errors.push(...checkAppArmor(annotations, spec, path, rules))
  return errors
}

function checkTolerationsText(text: string, path: FieldPath, rules: PodRules): FieldError[] {
  const read = loadTyped().readTolerations(text)
  if ('problem' in read) return [invalid(path, tolerationsKey, read.problem)]
  return checkTolerations([...read.items], path.child(tolerationsKey), rules)
}

function checkAppArmor(
  annotations: Annotations,
  spec: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  let names: Set<string> | undefined
  for (const key of Object.keys(annotations)) {
    if (!key.startsWith(appArmorPrefix)) continue
    const name = key.slice(appArmorPrefix.length)
    const containers = () => containersWithPaths(spec, path, rules.ephemeralContainers)
    names ??= new Set(containers().map(({ container }) => container.name))
    if (!names.has(name)) {
      errors.push(invalid(path.key(key), name, 'container not found'))
    }
    const profile = annotations[key] as string
    if (!isAppArmorProfile(profile)) {
      const detail = `invalid AppArmor profile name: ${goQuote(profile)}`
      errors.push(invalid(path.key(key), profile, detail))
    }
  }
  return errors
}

export const isAppArmorProfile = (profile: string): boolean =>
  ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith('localhost/')

/** AppArmor and mirror annotations are immutable after creation. */
export function checkPodAnnotationsUpdate(
  next: KubeObject,
  old: KubeObject,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const after: Annotations = next.metadata.annotations ?? {}
  const before: Annotations = old.metadata.annotations ?? {}
  const refuse = (key: string, verb: string) => {
    if (key.startsWith(appArmorPrefix)) {
      errors.push(forbidden(path.key(key), `may not ${verb} AppArmor annotations`))
    }
    if (key === mirrorKey) {
      errors.push(forbidden(path.key(key), `may not ${verb} mirror pod annotation`))
    }
  }
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key) || after[key] !== before[key]) refuse(key, 'remove or update')
  }
  for (const key of Object.keys(after)) if (!Object.hasOwn(before, key)) refuse(key, 'add')
  errors.push(...checkPodAnnotations(next.metadata.annotations, next.spec, path, rules))
  return errors
}
