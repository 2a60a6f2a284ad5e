/**
 * What may change in a pod that is there: little of its specification, and its status by certain
 * steps only.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  internalFieldError,
  invalid,
  problemsMax,
  required,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goList } from '#api/go-syntax.ts'
import { isIpv4, isIpv6, isIp } from '#api/ip-address.ts'
import { ipAddress, nameIsDnsSubdomain, qualifiedName, rangeProblem } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { each, samePart } from '#kinds/all-kinds/checks.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { goPodIp } from '#kinds/pod-template/go-values.ts'
import { checkPodAnnotationsUpdate } from '#kinds/pod-template/pod-annotations.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
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
const addressesOfStatus = change('an update of the status of a pod validates status.podIPs', {
  since: 19,
})
const changesComeFirst = change('errors of an updated pod begin with those of its metadata', {
  since: 19,
})
const pageSizesTwice = change('an updated pod with several sizes of huge pages has two errors', {
  since: 18,
  until: 21,
})
const podIpsPath = FieldPath.of('status', 'podIPs')

const annotationsPath = FieldPath.of('metadata', 'annotations')

export function checkPodUpdate(next: KubeObject, old: KubeObject, rules: PodRules): FieldError[] {
  const path = FieldPath.of('spec')
  const changed = checkMetadataUpdate(next, old)
  const whole = [...checkMetadata(next, true, nameIsDnsSubdomain), ...checkPod(next, rules)]
  const { release } = rules
  if (releaseOf(release).has(addressesOfSpec)) whole.push(...checkPodIps(next))
  const errors = releaseOf(release).has(changesComeFirst)
    ? [...changed, ...whole]
    : [...whole, ...changed]
  errors.push(...checkPodAnnotationsUpdate(next, old, annotationsPath, rules))
  if (releaseOf(release).has(pageSizesTwice)) errors.push(...checkPageSizes(next.spec, path, rules))
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
  const { tolerations } = next.spec
  errors.push(
    ...checkOnlyAddedTolerations(tolerations, old.spec.tolerations, path.child('tolerations')),
  )
  const kept = withoutMutableFields(next.spec, old.spec, rules)
  if (!samePart(kept, old.spec)) {
    const difference = goDifference('core.PodSpec', kept, old.spec)
    errors.push(forbidden(path, `${mutableFields(rules)}\n${difference}`))
  }
  return errors
}

function mutableFields(rules: PodRules): string {
  const grace = releaseOf(rules.release).has(canEndNegativeGrace)
    ? ' or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'
    : ''
  const before = releaseOf(rules.release).has(canEndNegativeGrace)
    ? '`spec.activeDeadlineSeconds`,'
    : '`spec.activeDeadlineSeconds` or'
  return `pod updates may not change fields other than \`spec.containers[*].image\`, \`spec.initContainers[*].image\`, ${before} \`spec.tolerations\` (only additions to existing tolerations)${grace}`
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
  const images = (field: string): Loose[] =>
    ((next[field] ?? []) as Loose[]).map((container, i) => ({
      ...container,
      image: old[field][i].image,
    }))
  const spec: Loose = {
    ...next,
    containers: images('containers'),
    initContainers: images('initContainers'),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
  }
  const grace = 'terminationGracePeriodSeconds'
  const mayEnd =
    releaseOf(rules.release).has(canEndNegativeGrace) && old[grace] < 0 && spec[grace] === 1
  if (mayEnd) spec[grace] = old[grace]
  return spec
}

export function checkPodStatusUpdate(
  next: KubeObject,
  old: KubeObject,
  rules: PodRules,
): FieldError[] {
  const status: Loose = next.status ?? {}
  const before: Loose = old.status ?? {}
  const path = FieldPath.of('status')
  const errors = [
    ...checkMetadataUpdate(next, old),
    ...checkPodAnnotationsUpdate(next, old, annotationsPath, rules),
    ...checkConditions(status.conditions, FieldPath.of('metadata', 'conditions')),
  ]
  if ((next.spec.nodeName ?? '') !== (old.spec.nodeName ?? '')) {
    errors.push(forbidden(path.child('nodeName'), 'may not be changed directly'))
  }
  const nominated: string = status.nominatedNodeName ?? ''
  if (nominated !== '' && nominated !== (before.nominatedNodeName ?? '')) {
    const problems = nameIsDnsSubdomain(nominated, false)
    errors.push(...each(path.child('nominatedNodeName'), nominated, problems))
  }
  const policy: string = old.spec.restartPolicy ?? ''
  for (const field of ['containerStatuses', 'initContainerStatuses']) {
    errors.push(...checkTransitions(status[field], before[field], path.child(field), policy))
  }
  if (releaseOf(rules.release).has(addressesOfStatus)) errors.push(...checkPodIps(next))
  return errors
}

const systemConditions = ['PodScheduled', 'Ready', 'Initialized']

function checkConditions(conditions: Loose[] | null | undefined, path: FieldPath): FieldError[] {
  return (conditions ?? []).flatMap((condition, i) => {
    const type: string = condition.type ?? ''
    if (systemConditions.includes(type)) return []
    return each(path.index(i).child('Type'), type, qualifiedName(type))
  })
}

/** A container that has ended for good stays ended. */
function checkTransitions(
  next: Loose[] | null | undefined,
  old: Loose[] | null | undefined,
  path: FieldPath,
  restartPolicy: string,
): FieldError[] {
  if (restartPolicy === 'Always') return []
  const errors: FieldError[] = []
  const going = new Map<string, number>()
  for (const { name, state } of next ?? []) {
    if (!state?.terminated) going.set(name, (going.get(name) ?? 0) + 1)
  }
  ;(old ?? []).forEach((before, i) => {
    const ended = before.state?.terminated
    if (!ended || ((ended.exitCode ?? 0) !== 0 && restartPolicy === 'OnFailure')) return
    const detail = 'may not be transitioned to non-terminated state'
    const times = Math.min(going.get(before.name) ?? 0, problemsMax - errors.length)
    for (let k = 0; k < times; k++) errors.push(forbidden(path.index(i).child('state'), detail))
  })
  return errors
}

function checkPodIps({ status }: KubeObject): FieldError[] {
  const path = podIpsPath
  const podIps: Loose[] = status?.podIPs ?? []
  const ips = podIps.map((podIp): string => podIp.ip ?? '')
  const errors = ips.flatMap((ip, i) => each(path.index(i), ip, ipAddress(ip)))
  if (ips.length < 2) return errors
  if (!ips.every(isIp)) {
    const detail = 'failed to check for dual stack with error:ip <nil> is invalid'
    errors.push(internalFieldError(path, detail))
  }
  const dual = ips.every(isIp) && ips.some(isIpv4) && ips.some(isIpv6)
  if (!dual || ips.length > 2) {
    const shown = asGo(goList('core.PodIP', podIps.map(goPodIp)))
    errors.push(invalid(path, shown, 'may specify no more than one IP for each IP family'))
  }
  const seen = new Set<string>()
  ips.forEach((ip, i) => {
    if (seen.has(ip)) errors.push(duplicate(path.index(i), asGo(goPodIp(podIps[i] as Loose))))
    seen.add(ip)
  })
  return errors
}
