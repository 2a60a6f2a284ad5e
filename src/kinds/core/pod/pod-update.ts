/**
 * Validation of pod updates: few fields of the spec may change, and the status only in certain
 * ways.
 */
import { copyWrittenEmpty } from '#api/written-empty.ts'
import { change } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain, rangeProblem } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { forbiddenChange } from '#kinds/all-kinds/internal-difference.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkPodAnnotationsUpdate } from '#kinds/pod-template/pod-annotations.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodIps } from './pod-addresses.ts'
import { checkOnlyDeletedGates, keepScheduling } from './scheduling-gates.ts'
import { checkPageSizes, checkPod } from '#kinds/pod-template/pod-spec.ts'
import { checkOnlyAddedTolerations } from '#kinds/pod-template/scheduling.ts'

const canEndNegativeGrace = change(
  'a negative terminationGracePeriodSeconds of a pod can be changed to 1',
  { since: 22 },
)

const int32Max = 2147483647

const addressesOfSpec = change('an update of a pod validates status.podIPs', {
  since: 16,
  until: 18,
})
const changesComeFirst = change('errors of an updated pod begin with those of its metadata', {
  since: 19,
})
const pageSizesTwice = change('an updated pod with several sizes of huge pages has two errors', {
  since: 18,
  until: 21,
})
const annotationsPath = FieldPath.of('metadata', 'annotations')

/** The checks of an updated pod before its changes are compared. */
export function checkChangedPod(next: KubeObject, old: KubeObject, rules: PodRules): FieldError[] {
  const changed = checkMetadataUpdate(next, old)
  const whole = [...checkMetadata(next, true, nameIsDnsSubdomain), ...checkPod(next, rules)]
  if (rules.has(addressesOfSpec)) whole.push(...checkPodIps(next, old, rules))
  return [
    ...(rules.has(changesComeFirst) ? [...changed, ...whole] : [...whole, ...changed]),
    ...checkPodAnnotationsUpdate(next, old, annotationsPath, rules),
  ]
}

export function checkPodUpdate(next: KubeObject, old: KubeObject, rules: PodRules): FieldError[] {
  const path = FieldPath.of('spec')
  const errors = checkChangedPod(next, old, rules)
  if (rules.has(pageSizesTwice)) errors.push(...checkPageSizes(next.spec, path, rules))
  for (const field of ['containers', 'initContainers']) {
    const after: Loose[] = next.spec[field] ?? []
    if (after.length !== (old.spec[field] ?? []).length) {
      errors.push(forbidden(path.child(field), 'pod updates may not add or remove containers'))
      return errors
    }
    errors.push(...checkImages(after, path.child(field)))
  }
  const deadline = checkDeadline(next.spec, old.spec, path.child('activeDeadlineSeconds'))
  errors.push(...deadline.errors)
  if (deadline.stop) return errors
  const { tolerations, schedulingGates } = next.spec
  errors.push(
    ...checkOnlyAddedTolerations(
      tolerations,
      old.spec.tolerations,
      path.child('tolerations'),
      rules,
    ),
    ...checkOnlyDeletedGates(
      schedulingGates,
      old.spec.schedulingGates,
      path.child('schedulingGates'),
    ),
  )
  const kept = withoutMutableFields(next.spec, old.spec, rules)
  if ((old.spec.schedulingGates ?? []).length > 0 && rules.has(gatedCanMove)) {
    errors.push(...keepScheduling(kept, old.spec, path))
  }
  if (!samePart(kept, old.spec)) {
    const sentence = `pod updates may not change fields other than ${mutableFields(rules)}`
    const change = { type: podSpecType, sentence, old: old.spec, next: kept }
    const difference = goDifference('core.PodSpec', kept, old.spec)
    errors.push(forbiddenChange(path, { ...change, before34: `${sentence}\n${difference}` }))
  }
  return errors
}

const gatedCanMove = change('pods with scheduling gates can change where they may run', {
  since: 27,
})

const listsMutableFields = change('the fields of pods that may change are a list with commas', {
  since: 27,
})
const mutableFieldsList = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')
const podSpecType = 'io.k8s.api.core.v1.PodSpec'

function mutableFields(rules: PodRules): string {
  if (rules.has(listsMutableFields)) return mutableFieldsList
  const grace = rules.has(canEndNegativeGrace)
    ? ' or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'
    : ''
  const before = rules.has(canEndNegativeGrace)
    ? '`spec.activeDeadlineSeconds`,'
    : '`spec.activeDeadlineSeconds` or'
  return `\`spec.containers[*].image\`, \`spec.initContainers[*].image\`, ${before} \`spec.tolerations\` (only additions to existing tolerations)${grace}`
}

function checkImages(containers: Loose[], path: FieldPath): FieldError[] {
  return containers.flatMap((container, i) => {
    const at = path.index(i).child('image')
    const image: string = container.image ?? ''
    if (image === '') return [required(at)]
    const detail = 'must not have leading or trailing whitespace'
    return image.trim() === image ? [] : [invalid(at, image, detail)]
  })
}

function checkDeadline(
  next: Loose,
  old: Loose,
  path: FieldPath,
): { errors: FieldError[]; stop: boolean } {
  const after: number | undefined = next.activeDeadlineSeconds ?? undefined
  const before: number | undefined = old.activeDeadlineSeconds ?? undefined
  if (after === undefined) {
    const detail = 'must not update from a positive integer to nil value'
    return { errors: before === undefined ? [] : [invalid(path, undefined, detail)], stop: false }
  }
  if (after < 0 || after > int32Max) {
    return { errors: [invalid(path, after, rangeProblem(0, int32Max))], stop: true }
  }
  if (before !== undefined && before < after) {
    const detail = 'must be less than or equal to previous value'
    return { errors: [invalid(path, after, detail)], stop: true }
  }
  return { errors: [], stop: false }
}

/** The new specification with the old value of everything that may change. */
function withoutMutableFields(next: Loose, old: Loose, rules: PodRules): Loose {
  const images = (field: string): Loose[] | undefined =>
    (next[field] as Loose[] | undefined)?.map((container, i) => {
      const kept = { ...container, image: old[field][i].image }
      copyWrittenEmpty(container, kept)
      return kept
    })
  const spec: Loose = {
    ...next,
    containers: images('containers'),
    initContainers: images('initContainers'),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
  }
  copyWrittenEmpty(next, spec)
  const grace = 'terminationGracePeriodSeconds'
  const mayEnd = rules.has(canEndNegativeGrace) && old[grace] < 0 && spec[grace] === 1
  if (mayEnd) spec[grace] = old[grace]
  return spec
}
