/**
 * Deletes all objects in a namespace: first pods, because they may use other objects, then the
 * rest. With ordered deletion the rest remains until all pods are gone. Returns the remaining
 * objects and an estimate of the remaining time.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { severalAtOnce } from '#base/several-at-once.ts'
import { type ApiClient, PartialDiscovery, type ResourceRef } from '#client/client.ts'
import { nameOf } from '#client/reflector.ts'
import { isMissing, unlessMissing } from '#controllers/queue-for.ts'
import type { Findings } from './conditions.ts'

/** When to check again if objects wait for finalizers. */
const finalizerEstimateSeconds = 15
/**
 * Resources that are deleted concurrently. Each of these deletions handles many objects at once
 * already.
 */
const resourcesAtOnce = 8

export interface Emptied extends Findings {
  /** Seconds until the rest may be gone; 0 if nothing remains or no estimate is possible. */
  estimateSeconds: number
  /** Other objects are not deleted yet, because pods remain. */
  waitsForPods: boolean
}

export async function emptyNamespace(
  client: ApiClient,
  namespace: string,
  /** Seconds since its deletion. */
  ageSeconds: number,
  isOrdered: boolean,
): Promise<Emptied> {
  const emptied: Emptied = {
    discoveryErrors: [],
    contentErrors: [],
    remaining: new Map(),
    finalizers: new Map(),
    estimateSeconds: 0,
    waitsForPods: false,
  }
  let found: Awaited<ReturnType<ApiClient['resources']>> = []
  try {
    found = await client.resources()
  } catch (error) {
    emptied.discoveryErrors.push(textOf(error))
    if (error instanceof PartialDiscovery) found = error.found
  }
  const deletable = found.filter(({ namespaced, verbs }) => namespaced && verbs.has('delete'))
  const empty = async (resource: (typeof deletable)[number]) => {
    try {
      await emptyResource(client, resource, namespace, ageSeconds, emptied)
    } catch (error) {
      // If the resource is no longer served, it has no content, unless it is served in another
      // version.
      if (isMissing(error) && !(await isServedOtherwise(client, resource))) return
      emptied.contentErrors.push(textOf(error))
    }
  }
  for (const resource of deletable.filter(isPods)) await empty(resource)
  emptied.waitsForPods = isOrdered && emptied.remaining.size > 0
  if (emptied.waitsForPods) return emptied
  const rest = deletable.filter((resource) => !isPods(resource))
  await severalAtOnce(rest, resourcesAtOnce, empty)
  return emptied
}

async function isServedOtherwise(
  client: ApiClient,
  { group, version, plural }: ResourceRef,
): Promise<boolean> {
  const served = await client.resources().catch((error) => {
    if (error instanceof PartialDiscovery) return error.found
    throw error
  })
  return served.some(
    (one) => one.group === group && one.plural === plural && one.version !== version,
  )
}

const isPods = ({ group, plural }: ResourceRef) => group === '' && plural === 'pods'

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

async function emptyResource(
  client: ApiClient,
  resource: ResourceRef & { verbs: ReadonlySet<string> },
  namespace: string,
  ageSeconds: number,
  emptied: Emptied,
): Promise<void> {
  const lists = resource.verbs.has('list')
  const before = lists ? await present(client, resource, namespace) : []
  if (lists && before.length === 0) return
  const grace = graceOf(resource, before)
  const estimate = ageSeconds >= grace ? 0 : grace
  await deleteAll(client, resource, namespace, before)
  if (!lists) return
  const { items } = await client.list(resource, namespace)
  if (items.length === 0) return
  emptied.remaining.set(resource, items.length)
  let held = false
  for (const { metadata } of items) {
    for (const finalizer of metadata.finalizers ?? []) {
      held = true
      emptied.finalizers.set(finalizer, (emptied.finalizers.get(finalizer) ?? 0) + 1)
    }
  }
  const seconds = estimate > 0 ? estimate : held ? finalizerEstimateSeconds : 0
  emptied.estimateSeconds = Math.max(emptied.estimateSeconds, seconds)
  if (seconds > 0) return
  const { group, version, plural } = resource
  throw new Error(
    `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`,
  )
}

/**
 * The objects that exist before the deletion. One object is enough if the resource supports
 * deletecollection.
 */
async function present(
  client: ApiClient,
  resource: ResourceRef & { verbs: ReadonlySet<string> },
  namespace: string,
): Promise<KubeObject[]> {
  const together = resource.verbs.has('deletecollection')
  const limit = together && !isPods(resource) ? 1 : undefined
  return (await client.list(resource, namespace, limit === undefined ? {} : { limit })).items
}

async function deleteAll(
  client: ApiClient,
  resource: ResourceRef & { verbs: ReadonlySet<string> },
  namespace: string,
  objects: readonly KubeObject[],
): Promise<void> {
  if (resource.verbs.has('deletecollection')) {
    // Ignore missing resources and objects; the next list shows what remains.
    return unlessMissing(
      client.deleteCollection(resource, namespace, { propagationPolicy: 'Background' }),
    )
  }
  const failed: unknown[] = []
  for (const { metadata } of objects) {
    const query = { uid: metadata.uid, propagationPolicy: 'Background' as const }
    await client.delete(resource, namespace, metadata.name as string, query).catch((error) => {
      if (!isMissing(error)) failed.push(error)
    })
  }
  if (failed.length > 0) {
    throw new Error(
      `${failed.length} of ${nameOf(resource)} could not be deleted: ${textOf(failed[0])}`,
    )
  }
}

/** The longest that pods still running may take to end. */
function graceOf(resource: ResourceRef, objects: readonly KubeObject[]): number {
  if (!isPods(resource)) return 0
  let longest = 0
  for (const { spec, status } of objects) {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue
    longest = Math.max(longest, Number(spec?.terminationGracePeriodSeconds ?? 0))
  }
  return longest
}
