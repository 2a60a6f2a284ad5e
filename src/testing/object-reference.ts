/** References to objects in calls of the client, and the selection of lists and watches. */
import type { KubeObject } from '#api/object-meta.ts'
import type { WatchEvent } from './watch-events.ts'

/** Identifies an object, or without name and namespace all objects of a kind. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
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
  list(reference: ObjectReference, query: ListQuery): Promise<ObjectList>
  watch(reference: ObjectReference, options: WatchOptions): AsyncIterable<WatchEvent>
}
