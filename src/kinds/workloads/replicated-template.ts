/** Rules for templates of pods that run on and on, and of which there may be many. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { LabelSelector } from '#api/label-selector.ts'
import type { Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodTemplate } from '#kinds/pod-template/pod-spec.ts'
import { checkSelectedUnlessEmpty } from './selectors.ts'

export const setsAreCheckedOnce = change(
  'updates of replica and daemon sets check the specification once',
  {
    since: 34,
  },
)
const disksAreChecked = change('disks of GCE that several pods use are read-only', { until: 30 })
const disksMayStay = change('templates may keep a disk of GCE that can be written', {
  since: 28,
  until: 30,
})

const isWritable = ({ gcePersistentDisk: disk }: Loose): boolean => disk && !disk.readOnly

/** A disk that many pods use can only be read. `path` is that of the template. */
export function checkReadOnlyDisks(
  template: Loose,
  path: FieldPath,
  rules: PodRules,
  old?: Loose | null,
): FieldError[] {
  if (!rules.has(disksAreChecked)) return []
  const volumesOf = (holder: Loose): Loose[] => holder.spec?.volumes ?? []
  if (old && rules.has(disksMayStay) && volumesOf(old).some(isWritable)) return []
  return volumesOf(template).flatMap((volume, i) => {
    if (!isWritable(volume)) return []
    const detail =
      'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
    const at = path.child('spec', 'volumes').index(i).child('gcePersistentDisk', 'readOnly')
    return [invalid(at, false, detail)]
  })
}

/** The pods of a controller have restartPolicy Always and no deadline. */
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
  old?: Loose | null,
): FieldError[] {
  if (!template) return [required(path)]
  const spec: Loose = template.spec ?? {}
  const errors = [
    ...checkSelectedUnlessEmpty(selector, template, path),
    ...checkPodTemplate(template, path, rules),
  ]
  if (replicas > 1) errors.push(...checkReadOnlyDisks(template, path, rules, old))
  errors.push(...checkRunsForever(spec, kind, path.child('spec')))
  return errors
}
