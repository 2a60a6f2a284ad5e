/** References to objects in calls of the client, and the selection of lists and watches. */
import type { KubeObject } from '#api/object-meta.ts'
import type { WatchEvent } from './watch-events.ts'

/** Identifies an object, or without name and namespace all objects of a kind. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
}

/**
 * An object or a reference as other libraries type it, such as V1ConfigMap of
 * @kubernetes/client-node. A call rejects without `apiVersion` and `kind`.
 */
export interface TypedObject {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
  readonly metadata?:
    | { readonly name?: string | undefined; readonly namespace?: string | undefined }
    | undefined
}

export interface ListQuery {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
}

export interface ObjectList {
  readonly items: KubeObject[]
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

export interface WatchOptions extends Omit<ListQuery, 'limit' | 'continue'> {
  readonly signal?: AbortSignal
  readonly allowWatchBookmarks?: boolean
  readonly timeoutSeconds?: number
}

/** The read operations that an informer needs. */
export interface Reads {
  list(reference: TypedObject, query: ListQuery): Promise<ObjectList>
  watch(reference: TypedObject, options: WatchOptions): AsyncIterable<WatchEvent>
}
