/**
 * The API client of controllers. It has the same verbs and checks whether the server is in this
 * process or remote. It has no privileged access. Errors are ApiErrors, as for any client.
 */
import type { ListQuery } from '#api/list-options.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'

/** A resource in one version: `{ group: 'apps', version: 'v1', plural: 'deployments' }`. */
export interface ResourceRef {
  readonly group: string
  readonly version: string
  readonly plural: string
}

export interface ListResult {
  readonly items: KubeObject[]
  readonly resourceVersion: string
  readonly continueToken: string
}

export interface DeleteQuery {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly gracePeriodSeconds?: number
}

export interface ClientEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** Read-only. For a deleted object only name, namespace, uid and version are certain. */
  readonly object: KubeObject
}

export interface ServedResource extends ResourceRef {
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: ReadonlySet<string>
  /** All apiVersions that serve the same objects. */
  readonly apiVersions: readonly string[]
}

/** Discovery failed for some of the aggregated servers. `found` has the resources of the others. */
export class PartialDiscovery extends Error {
  override name = 'PartialDiscovery'
  readonly found: readonly ServedResource[]

  constructor(message: string, found: readonly ServedResource[]) {
    super(message)
    this.found = found
  }
}

export interface ApiClient {
  get(
    resource: ResourceRef,
    namespace: string,
    name: string,
    subresource?: string,
  ): Promise<KubeObject>
  list(resource: ResourceRef, namespace: string, query?: ListQuery): Promise<ListResult>
  create(
    resource: ResourceRef,
    namespace: string,
    object: KubeObject,
    subresource?: { name: string; of: string },
  ): Promise<KubeObject>
  update(resource: ResourceRef, object: KubeObject, subresource?: string): Promise<KubeObject>
  /** A merge patch. */
  patch(
    resource: ResourceRef,
    namespace: string,
    name: string,
    patch: Loose,
    subresource?: string,
  ): Promise<KubeObject>
  /** Applies the fields that `manager` specifies, forcing conflicts with other managers. */
  apply(
    resource: ResourceRef,
    object: KubeObject,
    manager: string,
    subresource?: string,
  ): Promise<KubeObject>
  delete(resource: ResourceRef, namespace: string, name: string, query?: DeleteQuery): Promise<void>
  deleteCollection(
    resource: ResourceRef,
    namespace: string,
    query?: ListQuery & DeleteQuery,
  ): Promise<void>
  /**
   * Yields all changes after a resourceVersion. Ends when the signal aborts or the server ends the
   * watch. Throws 410 if the version is too old.
   */
  watch(
    resource: ResourceRef,
    namespace: string,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncIterable<ClientEvent>
  /**
   * Resolves when the resource has an object or the signal aborts; calls `whenEmpty` before it
   * waits. Only clients of this server have it.
   */
  untilStored?(resource: ResourceRef, signal: AbortSignal, whenEmpty: () => void): Promise<void>
  /**
   * All served resources, each once in its preferred version. Throws `PartialDiscovery` if some are
   * unknown.
   */
  resources(): Promise<readonly ServedResource[]>
}
