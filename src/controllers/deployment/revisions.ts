/**
 * The annotations in which a deployment and its replica sets record revisions and sizes. Pure.
 *
 * Example: the template of a deployment changes from A to B and back. Then the replica set of A has
 * the revision 3 and the revision history 1, that of B has the revision 2.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { maxSurgeOf, replicasOf } from './rollout-limits.ts'

const prefix = 'deployment.kubernetes.io'
export const revisionKey = `${prefix}/revision`
const historyKey = `${prefix}/revision-history`
const desiredKey = `${prefix}/desired-replicas`
const maxKey = `${prefix}/max-replicas`
export const rollbackKey = 'deprecated.deployment.rollback.to'

/** About a hundred revisions. */
const historyLengthMax = 2000

/** Annotations of a deployment that its replica sets do not have. */
const ownKeys = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionKey,
  historyKey,
  desiredKey,
  maxKey,
  rollbackKey,
])

type Annotations = Record<string, string>

const annotationsOf = ({ metadata }: KubeObject): Annotations => metadata.annotations ?? {}

const integerOf = (text: string): number => (/^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN)

/** 0 if there is none, NaN if it is not an integer. */
export const revisionOf = (set: KubeObject): number =>
  integerOf(annotationsOf(set)[revisionKey] ?? '0')

export const newestRevision = (sets: readonly KubeObject[]): number =>
  Math.max(0, ...sets.map(revisionOf).filter((revision) => !Number.isNaN(revision)))

/** The newest revision but one, to which a rollback returns by default. */
export function lastRevision(sets: readonly KubeObject[]): number {
  const revisions = sets.map(revisionOf).filter((revision) => revision > 0)
  return revisions.sort((a, b) => b - a)[1] ?? 0
}

const isSmallNumber = (text: string): boolean => /^\d+$/.test(text) && Number(text) < 2 ** 31

function numberIn(set: KubeObject, key: string): number | undefined {
  const text = annotationsOf(set)[key]
  return text !== undefined && isSmallNumber(text) ? Number(text) : undefined
}

/** The size of the deployment when the replica set was last scaled. */
export const desiredReplicas = (set: KubeObject): number | undefined => numberIn(set, desiredKey)
/** The largest size of the deployment at that time. */
export const maxReplicas = (set: KubeObject): number | undefined => numberIn(set, maxKey)

export function sizeAnnotations(deployment: KubeObject): Annotations {
  const replicas = replicasOf(deployment)
  return {
    [desiredKey]: String(replicas),
    [maxKey]: String(replicas + maxSurgeOf(deployment)),
  }
}

/** The annotations of a deployment that its replica sets share. */
export const sharedAnnotations = (object: KubeObject): Annotations =>
  Object.fromEntries(Object.entries(annotationsOf(object)).filter(([key]) => !ownKeys.has(key)))

export const ownAnnotations = (object: KubeObject): Annotations =>
  Object.fromEntries(Object.entries(annotationsOf(object)).filter(([key]) => ownKeys.has(key)))

/** The annotations of the replica set for the current template. A revision only rises. */
export function currentAnnotations(
  deployment: KubeObject,
  set: KubeObject | undefined,
  revision: number,
): Annotations {
  const before = set === undefined ? {} : annotationsOf(set)
  const merged = { ...before, ...sharedAnnotations(deployment) }
  const old = before[revisionKey]
  if (old === undefined) return { ...merged, [revisionKey]: String(revision) }
  const number = integerOf(old)
  if (Number.isNaN(number)) return before
  if (number >= revision) return merged
  const history = historyWith(before[historyKey] ?? '', old)
  return {
    ...merged,
    [revisionKey]: String(revision),
    ...(history !== '' && { [historyKey]: history }),
  }
}

/** Drops the oldest revisions if the text becomes too long. */
function historyWith(history: string, revision: string): string {
  const revisions = [...history.split(',').filter((one) => one !== ''), revision]
  while (revisions.join(',').length > historyLengthMax && revisions.length > 1) revisions.shift()
  return revisions.join(',')
}
