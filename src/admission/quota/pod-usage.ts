/** The quota usage of a pod: the pod itself and the requests and limits of its containers. */
import { qualifiedName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { type Quantity, quantityOf } from '#api/quantity.ts'
import { qosClassOf } from '#kinds/core/pod/qos-class.ts'
import {
  type AmountField,
  type AmountOptions,
  isPodLevelResource,
  podAmounts,
} from '#admission/pod-amounts.ts'
import { change } from '#api/releases/change.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import type { Evaluator, Scope, Settings } from './evaluator.ts'
import { add, amountsOf, type ResourceAmounts, showNames } from './resource-amounts.ts'
import { matchesScope } from './scope.ts'

const counted = new Set([
  'count/pods',
  'pods',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
])
/** Resources that every container must specify if a quota limits them. */
const compulsory = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
])
const compute = ['cpu', 'memory', 'ephemeral-storage']
const one = quantityOf(1)

const isNative = (name: string) => !name.includes('/') || name.includes('kubernetes.io/')

/** Whether the resource is an extended resource, such as `example.com/gpu`. */
export const isExtendedResource = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0

/** Whether the name is `requests.` with an extended resource or a device class. */
export const isExtendedName = (name: string): boolean =>
  name.startsWith('requests.') &&
  (!isNative(name) || name.startsWith('requests.deviceclass.resource.kubernetes.io/'))

const sumsLimitsAsScheduler = change('overhead counts only for limits that a pod has', {
  since: 27,
})
const countsResizes = change('quotas count the resize of a pod', { since: 32 })
const countsScopeChanges = change('quotas count a pod whose scope changes', { since: 33 })
const namesContainers = change('quotas name the containers that lack a resource', { since: 24 })
const countsImplicitExtended = change('quotas count resources that stand for device classes', {
  since: 35,
})

const implicitPrefix = 'deviceclass.resource.kubernetes.io/'

export function podEvaluator({ feature, now, release }: Settings): Evaluator {
  const crossNamespace = feature('PodAffinityNamespaceSelector')
  const podLevel = feature('PodLevelResources')
  const rules: UsageRules = {
    overhead: feature('PodOverhead'),
    addsMissingLimits: !release.has(sumsLimitsAsScheduler),
    podLevel,
    allocated: release.has(countsResizes) && feature('InPlacePodVerticalScaling'),
    implicit: release.has(countsImplicitExtended),
  }
  return {
    handles({ operation, subresource, object, old }) {
      if (subresource === 'resize') return operation === 'UPDATE' && release.has(countsResizes)
      if (subresource !== '') return false
      if (operation !== 'UPDATE' || !release.has(countsScopeChanges)) return operation === 'CREATE'
      return isTerminating(object?.spec ?? {}) !== isTerminating(old?.spec ?? {})
    },
    counts: (name) =>
      counted.has(name) ||
      name.startsWith('hugepages-') ||
      name.startsWith('requests.hugepages-') ||
      (rules.implicit ? isExtendedName(name) : isExtendedName(name) && !isNative(name)),
    inScope: (scope, pod) => inScope(scope, pod, crossNamespace),
    usage: (pod) => usageOf(pod, rules, now()),
    mayUseLess: (pod) => isOver(pod, now()) || (rules.allocated === true && wasChanged(pod)),
    problem: (names, pod) => missingOf(names, pod, rules, release.has(namesContainers)),
  }
}

interface UsageRules extends AmountOptions {
  readonly implicit: boolean
}

function usageOf(pod: KubeObject, rules: UsageRules, now: number): ResourceAmounts {
  const itself = new Map([['count/pods', one]])
  if (isOver(pod, now)) return itself
  const total = (field: AmountField) => podAmounts(pod, field, rules)
  return add(itself, named(total('requests'), total('limits'), rules))
}

/** Whether the spec has changed since the pod was created. */
const wasChanged = ({ metadata }: KubeObject): boolean => Number(metadata.generation ?? 1) > 1

/** Whether the pod has finished, or its deletion grace period is over. */
function isOver({ status, metadata }: KubeObject, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return now > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

/** Requests and limits under the resource names of quotas. */
function named(
  requests: ResourceAmounts,
  limits: ResourceAmounts,
  { implicit }: UsageRules,
): Map<string, Quantity> {
  const result = new Map([['pods', one]])
  for (const name of compute) {
    const request = requests.get(name)
    const limit = limits.get(name)
    if (request !== undefined) result.set(name, request).set(`requests.${name}`, request)
    if (limit !== undefined) result.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) result.set(name, request).set(`requests.${name}`, request)
    if (isExtendedResource(name) || (implicit && name.startsWith(implicitPrefix)))
      result.set(`requests.${name}`, request)
  }
  return result
}

function missingOf(
  names: readonly string[],
  { spec }: KubeObject,
  rules: UsageRules,
  showsContainers: boolean,
): string | undefined {
  if (rules.podLevel && isOfPodLevel(spec)) return undefined
  const wanted = names.filter((name) => compulsory.has(name))
  const missing = new Map<string, Set<string>>()
  for (const { name: container, resources } of [
    ...(spec.containers ?? []),
    ...(spec.initContainers ?? []),
  ] as Loose[]) {
    const there = named(amountsOf(resources?.requests), amountsOf(resources?.limits), rules)
    for (const name of wanted) {
      if (there.has(name)) continue
      missing.set(name, (missing.get(name) ?? new Set()).add(container))
    }
  }
  if (missing.size === 0) return undefined
  if (!showsContainers) return `must specify ${showNames([...missing.keys()])}`
  const shown = [...missing.keys()]
    .sort(byCodePoint)
    .map((name) => `${name} for: ${showNames([...(missing.get(name) ?? [])])}`)
  return `must specify ${shown.join('; ')}`
}

const isOfPodLevel = ({ resources }: Loose): boolean =>
  [resources?.requests, resources?.limits].some((list: Loose | undefined) =>
    Object.keys(list ?? {}).some(isPodLevelResource),
  )

function inScope(scope: Scope, { spec }: KubeObject, crossNamespace: boolean): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(spec)
    case 'NotTerminating':
      return !isTerminating(spec)
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort'
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort'
    case 'PriorityClass':
      return matchesScope(scope, spec.priorityClassName ? [spec.priorityClassName] : [])
    case 'CrossNamespacePodAffinity':
      return crossNamespace && reachesOtherNamespaces(spec)
    default:
      return false
  }
}

const isTerminating = ({ activeDeadlineSeconds }: Loose) =>
  activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0

function reachesOtherNamespaces({ affinity }: Loose): boolean {
  const crosses = (term: Loose) =>
    (term.namespaces?.length ?? 0) > 0 || term.namespaceSelector !== undefined
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((one: Loose | undefined) => {
    const required: Loose[] = one?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const preferred: Loose[] = one?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    return (
      required.some(crosses) ||
      preferred.some(({ podAffinityTerm }) => crosses(podAffinityTerm ?? {}))
    )
  })
}
