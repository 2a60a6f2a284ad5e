/**
 * Checks an eviction against a PodDisruptionBudget: decreases the budget, or throws the reason for
 * the rejection.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { ApiError, forbiddenRequest } from '#api/status-error.ts'

/** The maximum number of pods in a budget's status whose deletion is in progress. */
const disruptedPodsMax = 2000

const saysWhy = change('a refused eviction says why its budget has no room', { since: 35 })
const refusalsHaveCauses = change('every refused eviction names its budget as the cause', {
  since: 37,
})

const causeOf = (message: string) => [{ reason: 'DisruptionBudget', message }]

const refuse = (cause: string, retryAfterSeconds?: number) =>
  new ApiError(
    429,
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {
      causes: causeOf(cause),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  )

export const beingProcessed = (name: string): ApiError =>
  refuse(`The disruption budget ${name} is still being processed by the server.`, 10)

const closed = (name: string): string =>
  `The disruption budget ${name} does not allow evicting pods currently`

function forbidden(name: string, why: string, cause: string, release: Release): ApiError {
  const group = { group: 'policy', plural: 'poddisruptionbudget' }
  const { code, reason, message, details } = forbiddenRequest(group, name, why)
  const causes = release.has(refusalsHaveCauses) ? causeOf(`${closed(name)}: ${cause}`) : undefined
  return new ApiError(code, reason, message, { ...details, ...(causes && { causes }) })
}

function noRoom(name: string, status: Loose, release: Release): ApiError {
  const { desiredHealthy = 0, currentHealthy = 0 } = status
  const counts = `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  if (!release.has(saysWhy)) return refuse(counts)
  const { message, reason }: Loose =
    ((status.conditions ?? []) as Loose[]).find(
      (one) => one.type === 'DisruptionAllowed' && one.status === 'False' && one.message,
    ) ?? {}
  // After a failed sync the counts are not reliable.
  if (reason === 'SyncFailed') return refuse(`${closed(name)} because it failed sync: ${message}`)
  if (currentHealthy <= desiredHealthy) return refuse(counts)
  return refuse(message === undefined ? closed(name) : `${closed(name)} (${reason}): ${message}`)
}

/**
 * Takes one disruption for a pod from a budget, which it modifies. Throws if no disruption is
 * allowed.
 */
export function takeDisruption(
  budget: KubeObject,
  pod: KubeObject,
  now: string,
  release: Release,
): KubeObject {
  const { name = '', generation = 0 } = budget.metadata
  const status = (budget.status ??= {})
  if ((status.observedGeneration ?? 0) < generation) throw beingProcessed(name)
  if ((status.disruptionsAllowed ?? 0) < 0) {
    const why = 'pdb disruptions allowed is negative'
    throw forbidden(name, why, why, release)
  }
  if (Object.keys(status.disruptedPods ?? {}).length > disruptedPodsMax) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'
    const cause = 'too many pending evictions not confirmed by PDB controller'
    throw forbidden(name, why, cause, release)
  }
  if ((status.disruptionsAllowed ?? 0) === 0) throw noRoom(name, status, release)
  status.disruptionsAllowed--
  status.disruptedPods = { ...status.disruptedPods, [pod.metadata.name as string]: now }
  return budget
}
