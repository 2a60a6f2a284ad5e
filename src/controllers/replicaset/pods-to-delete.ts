/**
 * Which pods of a workload are deleted first when there are too many: those that do least work.
 * Pure.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { isActive, isReady, readyCondition } from '#controllers/workloads/pod-states.ts'

const agesAreRough = change('a replica set that shrinks compares the ages of pods roughly', {
  since: 22,
})

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'
const phases = ['Pending', 'Unknown', 'Running']

export interface DeletionOptions {
  /** The pods of all replica sets with the same owner: they share nodes. */
  readonly related: readonly KubeObject[]
  /** Whether the annotation for the cost of a deletion counts. */
  readonly costs: boolean
  readonly release: number
  readonly nowMs: number
}

export function podsToDelete(
  pods: readonly KubeObject[],
  count: number,
  options: DeletionOptions,
): KubeObject[] {
  if (count >= pods.length) return [...pods]
  const onNode = new Map<string, number>()
  for (const pod of options.related.filter(isActive)) {
    const node = nodeOf(pod)
    onNode.set(node, (onNode.get(node) ?? 0) + 1)
  }
  const neighbours = (pod: KubeObject) => onNode.get(nodeOf(pod)) ?? 0
  const order = (a: KubeObject, b: KubeObject): number =>
    Number(nodeOf(a) !== '') - Number(nodeOf(b) !== '') ||
    phaseOf(a) - phaseOf(b) ||
    Number(isReady(a)) - Number(isReady(b)) ||
    (options.costs ? costOf(a) - costOf(b) : 0) ||
    neighbours(b) - neighbours(a) ||
    (isReady(a) && isReady(b) ? newerFirst(readyTime(a), readyTime(b), a, b, options) : 0) ||
    restarts(b) - restarts(a) ||
    sidecarRestarts(b) - sidecarRestarts(a) ||
    newerFirst(createdTime(a), createdTime(b), a, b, options)
  return [...pods].sort(order).slice(0, count)
}

const nodeOf = ({ spec }: KubeObject): string => spec?.nodeName ?? ''
const phaseOf = ({ status }: KubeObject): number => phases.indexOf(status?.phase ?? 'Pending')
const timeOf = (text: unknown): number => (typeof text === 'string' ? Date.parse(text) : 0)
const readyTime = (pod: KubeObject): number => timeOf(readyCondition(pod)?.lastTransitionTime)
const createdTime = ({ metadata }: KubeObject): number => timeOf(metadata.creationTimestamp)

function costOf({ metadata }: KubeObject): number {
  const text = metadata.annotations?.[costAnnotation] ?? ''
  return /^(0|-?[1-9]\d*)$/.test(text) && Math.abs(Number(text)) < 2 ** 31 ? Number(text) : 0
}

/**
 * Pods of about the same age are in no order by age, so that their uid decides. 30 and 50 seconds
 * are about the same, 30 and 300 are not.
 */
function newerFirst(
  a: number,
  b: number,
  first: KubeObject,
  second: KubeObject,
  { release, nowMs }: DeletionOptions,
): number {
  if (a === b) return 0
  if (a === 0 || b === 0) return a === 0 ? -1 : 1
  if (!releaseOf(release).has(agesAreRough)) return b - a
  const magnitude = (time: number) =>
    nowMs > time ? Math.floor(Math.log2((nowMs - time) * 1e6)) : -1
  const difference = magnitude(a) - magnitude(b)
  return difference || ((first.metadata.uid ?? '') < (second.metadata.uid ?? '') ? -1 : 1)
}

const most = (statuses: readonly Loose[]): number =>
  Math.max(0, ...statuses.map(({ restartCount = 0 }) => restartCount))

const restarts = ({ status }: KubeObject): number => most(status?.containerStatuses ?? [])

function sidecarRestarts({ spec, status }: KubeObject): number {
  const sidecars = new Set(
    (spec?.initContainers ?? [])
      .filter(({ restartPolicy }: Loose) => restartPolicy === 'Always')
      .map(({ name }: Loose) => name),
  )
  return most((status?.initContainerStatuses ?? []).filter(({ name }: Loose) => sidecars.has(name)))
}
