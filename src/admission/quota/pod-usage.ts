/** What a pod uses of a quota: itself, and what its containers request and are limited to. */
import { qualifiedName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { matchesRequirement } from '#api/label-requirement.ts'
import { type Quantity, quantityOf } from '#api/quantity.ts'
import { qosClassOf } from '#kinds/core/pod/qos-class.ts'
import type { Evaluator, Scope, Settings } from './evaluator.ts'
import { add, amountsOf, larger, type ResourceAmounts, showNames } from './resource-amounts.ts'

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
/** What every container must name where a quota counts it. */
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

/** Resources that nodes offer beyond the native ones. */
export const isExtendedResource = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0

export function podEvaluator({ feature, now }: Settings): Evaluator {
  const overhead = feature('PodOverhead')
  const crossNamespace = feature('PodAffinityNamespaceSelector')
  return {
    operations: ['CREATE'],
    counts: (name) =>
      counted.has(name) ||
      name.startsWith('hugepages-') ||
      name.startsWith('requests.hugepages-') ||
      (!isNative(name) && name.startsWith('requests.')),
    inScope: (scope, pod) => inScope(scope, pod, crossNamespace),
    usage: (pod) => usageOf(pod, overhead, now()),
    mayUseLess: (pod) => isOver(pod, now()),
    problem: (names, pod) => missingOf(names, pod),
  }
}

function usageOf(pod: KubeObject, overhead: boolean, now: number): ResourceAmounts {
  const itself = new Map([['count/pods', one]])
  if (isOver(pod, now)) return itself
  const { spec } = pod
  const total = (field: 'requests' | 'limits') => {
    let sum: ResourceAmounts = new Map()
    for (const { resources } of (spec.containers ?? []) as Loose[])
      sum = add(sum, amountsOf(resources?.[field]))
    for (const { resources } of (spec.initContainers ?? []) as Loose[])
      sum = larger(sum, amountsOf(resources?.[field]))
    return overhead ? add(sum, amountsOf(spec.overhead)) : sum
  }
  return add(itself, named(total('requests'), total('limits')))
}

/** Finished, or deleted longer ago than its grace lasted. */
function isOver({ status, metadata }: KubeObject, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return now > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

/** Requests and limits by the names quotas have for them. */
function named(requests: ResourceAmounts, limits: ResourceAmounts): Map<string, Quantity> {
  const result = new Map([['pods', one]])
  for (const name of compute) {
    const request = requests.get(name)
    const limit = limits.get(name)
    if (request !== undefined) result.set(name, request).set(`requests.${name}`, request)
    if (limit !== undefined) result.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) result.set(name, request).set(`requests.${name}`, request)
    if (isExtendedResource(name)) result.set(`requests.${name}`, request)
  }
  return result
}

function missingOf(names: readonly string[], { spec }: KubeObject): string | undefined {
  const wanted = names.filter((name) => compulsory.has(name))
  const missing = new Set<string>()
  for (const { resources } of [
    ...(spec.containers ?? []),
    ...(spec.initContainers ?? []),
  ] as Loose[]) {
    const there = named(amountsOf(resources?.requests), amountsOf(resources?.limits))
    for (const name of wanted) if (!there.has(name)) missing.add(name)
  }
  return missing.size === 0 ? undefined : `must specify ${showNames([...missing])}`
}

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
      return hasPriority(scope, spec)
    case 'CrossNamespacePodAffinity':
      return crossNamespace && reachesOtherNamespaces(spec)
    default:
      return false
  }
}

const isTerminating = ({ activeDeadlineSeconds }: Loose) =>
  activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0

const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const

function hasPriority(
  { operator = 'Exists', values = [] }: Scope,
  { priorityClassName }: Loose,
): boolean {
  const labels = priorityClassName ? { PriorityClass: priorityClassName as string } : undefined
  const requirement = {
    key: 'PriorityClass',
    operator: operators[operator as keyof typeof operators],
    values,
  }
  return requirement.operator !== undefined && matchesRequirement(requirement, labels)
}

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
