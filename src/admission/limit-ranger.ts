/**
 * The LimitRanger plugin applies the defaults of a LimitRange to containers without requests or
 * limits. It rejects containers, pods and claims outside the allowed range.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { setKey } from '#schema/user-key.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { type Amounts, limitProblems, olderPodAmounts } from './limit-rules.ts'
import { isMain, isNewPod, isWrite } from './match.ts'
import { type AmountField, podAmounts } from './pod-amounts.ts'
import { listOf } from './quota/resource-amounts.ts'
import { refusal, together } from './refusal.ts'

const annotation = 'kubernetes.io/limit-ranger'

const isClaim = (request: AdmissionRequest) =>
  isWrite(request) && isMain(request, '', 'persistentvolumeclaims')

const sumsSidecars = change(
  'limits of a pod count sidecars and amounts that some containers have',
  {
    since: 28,
  },
)
const limitsResizes = change('limits count for the resize of a pod', { since: 32 })

interface Rules {
  readonly release: Release
  /** Whether `spec.resources` of a pod is included. */
  readonly podLevel: boolean
}

const isResize = ({ kind, operation, subresource }: AdmissionRequest): boolean =>
  kind.plural === 'pods' && kind.group === '' && subresource === 'resize' && operation === 'UPDATE'

export const limitRanger = (rules: Rules): AdmissionPlugin => ({
  name: 'LimitRanger',
  mutate(request, reader) {
    if (!isNewPod(request)) return
    return giveDefaults(request, reader)
  },
  validate(request, reader) {
    const resizes = isResize(request) && rules.release.has(limitsResizes)
    if (!isNewPod(request) && !isClaim(request) && !resizes) return
    if (request.old?.metadata.deletionTimestamp !== undefined) return
    return checkLimits(request, reader, rules)
  },
})

function giveDefaults(request: AdmissionRequest, reader: ObjectReader): Awaitable<void> {
  const pod = request.object as KubeObject
  return after(reader.list('', 'limitranges', request.namespace), (ranges) => {
    for (const range of ranges) mergeDefaults(pod, range)
  })
}

function checkLimits(
  request: AdmissionRequest,
  reader: ObjectReader,
  rules: Rules,
): Awaitable<void> {
  const object = request.object as KubeObject
  return after(reader.list('', 'limitranges', request.namespace), (ranges) => {
    for (const range of ranges) {
      const check = request.kind.plural === 'pods' ? podProblems : claimProblems
      const problems = limitsOf(range).flatMap((limit) => check(limit, object, rules))
      if (problems.length > 0) throw refusal(request, together(problems))
    }
  })
}

const limitsOf = ({ spec }: KubeObject): Loose[] => spec?.limits ?? []

/** Within one LimitRange, later items override earlier ones. */
function mergeDefaults(pod: KubeObject, range: KubeObject): void {
  const requests: Amounts = {}
  const limits: Amounts = {}
  for (const limit of limitsOf(range)) {
    if (limit.type !== 'Container') continue
    for (const [name, amount] of Object.entries(limit.defaultRequest ?? {}))
      setKey(requests, name, amount as string)
    for (const [name, amount] of Object.entries(limit.default ?? {}))
      setKey(limits, name, amount as string)
  }
  const stated: string[] = []
  for (const [list, label] of [
    ['containers', 'container'],
    ['initContainers', 'init container'],
  ] as const) {
    for (const container of (pod.spec[list] ?? []) as Loose[]) {
      const resources = (container.resources ??= {})
      const setLimits = fillIn(resources, 'limits', limits)
      const setRequests = fillIn(resources, 'requests', requests)
      if (setRequests.length > 0)
        stated.push(`${setRequests.join(', ')} request for ${label} ${container.name ?? ''}`)
      if (setLimits.length > 0)
        stated.push(`${setLimits.join(', ')} limit for ${label} ${container.name ?? ''}`)
    }
  }
  if (stated.length === 0) return
  pod.metadata.annotations ??= {}
  pod.metadata.annotations[annotation] = `LimitRanger plugin set: ${stated.join('; ')}`
}

/** Applies defaults for resources that are not set. Returns their names, sorted. */
function fillIn(resources: Loose, field: 'limits' | 'requests', defaults: Amounts): string[] {
  const missing = Object.keys(defaults).filter(
    (name) => ownValue(resources[field], name) === undefined,
  )
  if (missing.length === 0) return []
  const amounts = (resources[field] ??= {})
  for (const name of missing) setKey(amounts, name, defaults[name])
  return missing.sort()
}

function claimProblems(limit: Loose, { spec }: KubeObject): string[] {
  if (limit.type !== 'PersistentVolumeClaim') return []
  return limitProblems(limit, spec.resources?.requests ?? {}, undefined)
}

function podProblems(limit: Loose, pod: KubeObject, rules: Rules): string[] {
  const { spec } = pod
  if (limit.type === 'Container') {
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(
      ({ resources }: Loose) =>
        limitProblems(limit, resources?.requests ?? {}, resources?.limits ?? {}),
    )
  }
  if (limit.type !== 'Pod') return []
  return limitProblems(limit, wholeOf(pod, 'requests', rules), wholeOf(pod, 'limits', rules))
}

function wholeOf(pod: KubeObject, field: AmountField, { release, podLevel }: Rules): Amounts {
  if (!release.has(sumsSidecars)) return olderPodAmounts(pod.spec, field)
  return listOf(podAmounts(pod, field, { overhead: false, podLevel }))
}
