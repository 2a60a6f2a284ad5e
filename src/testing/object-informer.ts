/**
 * Keeps a copy of all objects of a kind up to date. It lists, watches from that revision, and lists
 * again after a 410 or a failed watch. Handlers get each difference once.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ClosedCluster } from './closed-cluster.ts'
import { FailedRequest } from './failed-request.ts'
import type { TypedObject, Reads } from './object-reference.ts'

export interface InformerOptions {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly onAdd?: (object: KubeObject) => void
  readonly onUpdate?: (object: KubeObject, old: KubeObject) => void
  readonly onDelete?: (object: KubeObject) => void
}

export interface Informer extends AsyncDisposable {
  /** By `namespace/name`, or `name` for cluster-scoped kinds. */
  readonly objects: ReadonlyMap<string, KubeObject>
  close(): Promise<void>
}

/** The delay before the informer retries a failed list or watch. */
const retryMs = 100

const objectKey = ({ metadata: { namespace, name = '' } }: KubeObject): string =>
  namespace ? `${namespace}/${name}` : name

export async function startInformer(
  client: Reads,
  reference: TypedObject,
  options: InformerOptions,
): Promise<Informer> {
  const objects = new Map<string, KubeObject>()
  const stopping = new AbortController()
  const { signal } = stopping
  const { labelSelector, fieldSelector, onAdd, onUpdate, onDelete } = options
  const query = { labelSelector: labelSelector ?? '', fieldSelector: fieldSelector ?? '' }
  const put = (object: KubeObject) => {
    const key = objectKey(object)
    const old = objects.get(key)
    objects.set(key, object)
    if (old === undefined) onAdd?.(object)
    else if (old.metadata.resourceVersion !== object.metadata.resourceVersion)
      onUpdate?.(object, old)
  }
  const drop = (key: string) => {
    const old = objects.get(key)
    if (objects.delete(key) && old !== undefined) onDelete?.(old)
  }
  const list = async () => {
    const { items, metadata } = await client.list(reference, query)
    const { apiVersion, kind } = reference
    const present = new Set(items.map(objectKey))
    for (const key of [...objects.keys()]) if (!present.has(key)) drop(key)
    for (const item of items) put({ ...item, apiVersion, kind })
    return metadata.resourceVersion
  }
  const follow = async (resourceVersion: string) => {
    const watch = { ...query, resourceVersion, signal, allowWatchBookmarks: true }
    for await (const { type, object } of client.watch(reference, watch)) {
      resourceVersion = object.metadata.resourceVersion ?? resourceVersion
      if (type === 'DELETED') drop(objectKey(object))
      else if (type !== 'BOOKMARK') put(object)
    }
    return resourceVersion
  }
  let from = await list()
  const running = (async () => {
    while (!signal.aborted) {
      try {
        from = await follow(from)
      } catch (error) {
        if (signal.aborted || error instanceof ClosedCluster) return
        const expired = error instanceof FailedRequest && error.code === 410
        if (!expired) await new Promise((resolve) => setTimeout(resolve, retryMs))
        from = await list().catch(() => from)
      }
    }
  })()
  const close = async () => {
    stopping.abort()
    await running
  }
  return { objects, close, [Symbol.asyncDispose]: close }
}
