/**
 * The replica sets of a deployment at one moment, and the sizes that a rollout gives them next.
 * Pure.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { desiredReplicas, maxReplicas, revisionOf } from './revisions.ts'
import { isRolling, maxSurgeOf, maxUnavailableOf, replicasOf } from './rollout-limits.ts'
import { hasTemplate } from './template-hash.ts'

export interface Rollout {
  readonly deployment: KubeObject
  /** The replica set of the current template. */
  readonly current: KubeObject | undefined
  /** Those of earlier templates, oldest first. */
  readonly old: readonly KubeObject[]
}

/** The size that a replica set gets. */
export interface Scaling {
  readonly set: KubeObject
  readonly replicas: number
}

export const availableOf = ({ status }: KubeObject): number => status?.availableReplicas ?? 0

export const total = (sets: readonly KubeObject[], of: (set: KubeObject) => number): number =>
  sets.reduce((sum, set) => sum + of(set), 0)

const isActive = (set: KubeObject): boolean => replicasOf(set) > 0

export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const first = a.creationTimestamp ?? ''
  const second = b.creationTimestamp ?? ''
  if (first !== second) return first < second ? -1 : 1
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1
}

/** If several replica sets have the template, the oldest is the current one. */
export function rolloutOf(deployment: KubeObject, sets: readonly KubeObject[]): Rollout {
  const sorted = [...sets].sort(byAge)
  const current = sorted.find((set) => hasTemplate(set, deployment))
  return { deployment, current, old: sorted.filter((set) => set !== current) }
}

export const setsOf = ({ current, old }: Rollout): KubeObject[] =>
  current === undefined ? [...old] : [...old, current]

/** The size of a new replica set, as far as the other sets leave room. */
export function sizeOfCurrent(rollout: Rollout): number {
  const { deployment, current } = rollout
  const wanted = replicasOf(deployment)
  if (!isRolling(deployment)) return wanted
  const size = current === undefined ? 0 : replicasOf(current)
  const room = wanted + maxSurgeOf(deployment) - total(setsOf(rollout), replicasOf)
  return room <= 0 ? size : size + Math.min(room, wanted - size)
}

/** In a rolling update: the current replica set grows or shrinks. */
export function scaleCurrent(rollout: Rollout): Scaling[] {
  const { deployment, current } = rollout
  if (current === undefined) return []
  const wanted = replicasOf(deployment)
  const replicas = replicasOf(current) > wanted ? wanted : sizeOfCurrent(rollout)
  return replicas === replicasOf(current) ? [] : [{ set: current, replicas }]
}

/**
 * In a rolling update: old replica sets lose pods that are not available first, and then as many as
 * leave enough available pods.
 *
 * Example: 10 replicas, 2 of them may be unavailable. The old set has 8 available pods, the new one
 * 5, of which 3 are available. 13 - 8 - 2 = 3 pods may go.
 */
export function scaleOld({ deployment, current, old }: Rollout): Scaling[] {
  if (current === undefined) return []
  const needed = replicasOf(deployment) - maxUnavailableOf(deployment)
  const unavailable = replicasOf(current) - availableOf(current)
  const all = total([...old, current], replicasOf)
  let unhealthy = all - needed - unavailable
  if (unhealthy <= 0) return []
  let spare = total([...old, current], availableOf) - needed
  const scalings: Scaling[] = []
  const sizes = new Map(old.map((set) => [set, replicasOf(set)]))
  for (const set of old) {
    const size = replicasOf(set)
    const count = Math.max(0, Math.min(unhealthy, size - availableOf(set)))
    unhealthy -= count
    sizes.set(set, size - count)
  }
  for (const set of old) {
    const size = sizes.get(set) as number
    const count = Math.max(0, Math.min(spare, size))
    spare -= count
    if (size - count !== replicasOf(set)) scalings.push({ set, replicas: size - count })
  }
  return scalings
}

/** Whether the size of the deployment has changed since its replica sets were scaled. */
export const isResized = (rollout: Rollout): boolean =>
  setsOf(rollout).some((set) => {
    const desired = desiredReplicas(set)
    return isActive(set) && desired !== undefined && desired !== replicasOf(rollout.deployment)
  })

/** The scalings after the deployment was resized, or while it is paused. */
export function resize(rollout: Rollout): Scaling[] {
  const { deployment, current, old } = rollout
  const wanted = replicasOf(deployment)
  const active = setsOf(rollout).filter(isActive)
  if (active.length <= 1) {
    const set = active[0] ?? current ?? old.at(-1)
    return set === undefined || replicasOf(set) === wanted ? [] : [{ set, replicas: wanted }]
  }
  if (isSaturated(rollout))
    return old.filter(isActive).map((set): Scaling => ({ set, replicas: 0 }))
  return isRolling(deployment) ? distribute(active, deployment) : []
}

function isSaturated({ deployment, current }: Rollout): boolean {
  if (current === undefined) return false
  const wanted = replicasOf(deployment)
  return [replicasOf(current), desiredReplicas(current), availableOf(current)].every(
    (count) => count === wanted,
  )
}

/**
 * Distributes pods in proportion to the sizes of the replica sets.
 *
 * Example: 10 replicas and 3 more for the surge become 20 and 6 more. Sets of 8 and 5 become 16 and
 * 10.
 */
function distribute(active: readonly KubeObject[], deployment: KubeObject): Scaling[] {
  const wanted = replicasOf(deployment)
  const most = wanted > 0 ? wanted + maxSurgeOf(deployment) : 0
  const toAdd = most - total(active, replicasOf)
  const direction = toAdd > 0 ? -1 : 1
  const sorted = [...active].sort(
    (a, b) => replicasOf(b) - replicasOf(a) || direction * byAge(a, b),
  )
  let left = toAdd
  const scalings = sorted.map((set) => {
    const share = shareOf(set, deployment)
    const count = left === 0 ? 0 : toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
    left -= count
    return { set, replicas: replicasOf(set) + count }
  })
  const [largest, ...others] = scalings
  if (largest === undefined) return []
  return [{ ...largest, replicas: Math.max(0, largest.replicas + left) }, ...others]
}

/** By how many pods a replica set grows or shrinks in proportion. */
function shareOf(set: KubeObject, deployment: KubeObject): number {
  const size = replicasOf(set)
  const wanted = replicasOf(deployment)
  if (wanted === 0) return -size
  const before = maxReplicas(set) || (deployment.status?.replicas ?? 0)
  if (before === 0) return 0
  return Math.floor((size * (wanted + maxSurgeOf(deployment))) / before + 0.5) - size
}

/** The old replica sets that the revision history has no room for, and that have no pods. */
export function expiredSets(old: readonly KubeObject[], limit: number): KubeObject[] {
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return alive
    .sort((a, b) => revisionOf(a) - revisionOf(b) || byAge(a, b))
    .slice(0, Math.max(0, alive.length - limit))
    .filter(
      ({ metadata, spec, status }) =>
        (status?.replicas ?? 0) === 0 &&
        spec?.replicas === 0 &&
        (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0),
    )
}
