/** Rules for templates of pods that run on and on, and of which there may be many. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { LabelSelector } from '#api/label-selector.ts'
import type { Loose } from '#api/object-meta.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodTemplate } from '#kinds/pod-template/pod-spec.ts'
import { checkSelectedUnlessEmpty } from './selectors.ts'

/** A disk that many pods use can only be read. */
export function checkReadOnlyDisks(
  volumes: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  return (volumes ?? []).flatMap((volume, i) => {
    if (!volume.gcePersistentDisk || volume.gcePersistentDisk.readOnly) return []
    const detail =
      'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
    return [invalid(path.index(i).child('gcePersistentDisk', 'readOnly'), false, detail)]
  })
}

/** Pods of a controller are always started again, and never given a deadline. */
export function checkRunsForever(spec: Loose, kind: string, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const policy: string = spec.restartPolicy ?? ''
  if (policy !== 'Always') {
    errors.push(notSupported(path.child('restartPolicy'), policy, ['Always']))
  }
  if ((spec.activeDeadlineSeconds ?? undefined) !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`
    errors.push(forbidden(path.child('activeDeadlineSeconds'), detail))
  }
  return errors
}

export function checkReplicatedTemplate(
  template: Loose | null | undefined,
  selector: LabelSelector,
  replicas: number,
  kind: string,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  if (!template) return [required(path)]
  const spec: Loose = template.spec ?? {}
  const errors = [
    ...checkSelectedUnlessEmpty(selector, template, path),
    ...checkPodTemplate(template, path, rules),
  ]
  if (replicas > 1) errors.push(...checkReadOnlyDisks(spec.volumes, path.child('spec', 'volumes')))
  errors.push(...checkRunsForever(spec, kind, path.child('spec')))
  return errors
}
