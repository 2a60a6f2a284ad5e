/**
 * Completes the deletion of a definition: first its instances are deleted, then its finalizer is
 * removed.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import type { Kind, Resource } from '#kinds/kind.ts'
import { isTrue, setCondition } from './conditions.ts'

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/** How often it checks whether all instances are deleted, and how long before it starts again. */
const pollMs = 100
const waitMsMax = 60_000

export const isLeaving = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(cleanupFinalizer)

export interface FinalizeParts {
  readonly remover: (kind: Kind) => ApiClient
  /** The resource of the definition; undefined if a built-in resource has its name. */
  readonly resource: Resource | undefined
  readonly now: () => string
  readonly sleep?: (ms: number) => Promise<void>
  /** Resolves with undefined if another writer was faster. */
  readonly writeStatus: (definition: KubeObject) => Promise<KubeObject | undefined>
}

export async function finalize(definition: KubeObject, parts: FinalizeParts): Promise<void> {
  const set = (next: KubeObject, status: 'True' | 'False', reason: string, message: string) =>
    setCondition(next, { type: 'Terminating', status, reason, message }, parts.now())
  const next = structuredClone(definition)
  set(next, 'True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress')
  const begun = await parts.writeStatus(next)
  if (begun === undefined) return
  const done = structuredClone(begun)
  if (!isTrue(done, 'Established'))
    set(done, 'False', 'NeverEstablished', 'resource was never established')
  else if (parts.resource === undefined) {
    set(
      done,
      'False',
      'OverlappingBuiltInResource',
      'instances overlap with built-in resources in storage',
    )
  } else {
    const problem = await removeInstances(parts, parts.resource)
    if (problem !== undefined) {
      set(done, 'True', problem.reason, problem.message)
      await parts.writeStatus(done)
      throw new ApiError(500, 'InternalError', problem.message)
    }
    set(done, 'False', 'InstanceDeletionCompleted', 'removed all instances')
  }
  const left = (done.metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer)
  if (left.length === 0) delete done.metadata.finalizers
  else done.metadata.finalizers = left
  await parts.writeStatus(done)
}

interface Problem {
  readonly reason: string
  readonly message: string
}

/**
 * Returns undefined when all instances are deleted. They are deleted in the stored version, which
 * need not be served or convertible.
 */
async function removeInstances(
  { remover, sleep = slept }: FinalizeParts,
  { stored: { group, version, plural }, stored }: Resource,
): Promise<Problem | undefined> {
  const client = remover(stored)
  const ref: ResourceRef = { group, version, plural }
  const list = async (limit?: number) =>
    (await client.list(ref, '', limit === undefined ? {} : { limit })).items
  let left: KubeObject[]
  try {
    left = await list()
  } catch (error) {
    return failed(`could not list instances: ${wordsOf(error)}`)
  }
  const faults: string[] = []
  for (const namespace of new Set(left.map(({ metadata }) => metadata.namespace ?? ''))) {
    await client.deleteCollection(ref, namespace).catch((error) => faults.push(wordsOf(error)))
  }
  if (faults.length > 0) return failed(`could not issue all deletes: ${inOne(faults)}`)
  try {
    for (let waited = 0; waited <= waitMsMax; waited += pollMs) {
      if (left.length === 0) return undefined
      await sleep(pollMs)
      // One remaining instance is sufficient proof, and there may be many.
      left = await list(1)
    }
  } catch (error) {
    return unconfirmed(wordsOf(error))
  }
  return unconfirmed('timed out waiting for the condition')
}

const failed = (message: string): Problem => ({ reason: 'InstanceDeletionFailed', message })
const unconfirmed = (why: string): Problem => ({
  reason: 'InstanceDeletionCheck',
  message: `could not confirm zero CustomResources remaining: ${why}`,
})
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Lists each fault once, in brackets if there are several. */
function inOne(faults: readonly string[]): string {
  const once = [...new Set(faults)]
  return once.length === 1 ? once[0] : `[${once.join(', ')}]`
}

const slept = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
