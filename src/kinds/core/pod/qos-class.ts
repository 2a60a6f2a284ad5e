/** The quality of service of a pod, from the requests and limits of its containers. */
import type { Loose } from '#api/object-meta.ts'
import { hasPodResources } from '#kinds/pod-template/pod-resources.ts'
import { addQuantities, compareQuantities, type Quantity, signOfQuantity } from '#api/quantity.ts'

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed'

const compute = ['cpu', 'memory']

/** Pod-level resources take precedence over those of containers. */
export function qosClassOf(spec: Loose, feature: (gate: string) => boolean = () => true): QosClass {
  const requests = new Map<string, Quantity | string>()
  const limits = new Map<string, Quantity | string>()
  let guaranteed = true
  const countsPod =
    spec.resources &&
    feature('PodLevelResources') &&
    (hasPodResources(spec) || !feature('PodLevelResourcesFixKubeletQOSClass'))
  const containers: Loose[] = countsPod
    ? [spec]
    : [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  for (const { resources } of containers) {
    gather(requests, resources?.requests)
    const limited = gather(limits, resources?.limits)
    if (limited < compute.length) guaranteed = false
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  for (const [name, request] of requests) {
    const limit = limits.get(name)
    if (limit === undefined || compareQuantities(limit, request) !== 0) guaranteed = false
  }
  return guaranteed && requests.size === limits.size ? 'Guaranteed' : 'Burstable'
}

/** Adds up the requests above zero; returns how many resources that were. */
function gather(
  totals: Map<string, Quantity | string>,
  amounts: Readonly<Record<string, string>> | null | undefined,
): number {
  let found = 0
  for (const name of compute) {
    const amount = amounts?.[name]
    if (amount === undefined || signOfQuantity(amount) <= 0) continue
    found++
    const total = totals.get(name)
    totals.set(name, total === undefined ? amount : addQuantities(amount, total))
  }
  return found
}
