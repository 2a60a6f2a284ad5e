/**
 * Combines the API of this server with those of aggregated servers: each request is sent to the
 * server that serves the resource.
 */
import { type ApiClient, PartialDiscovery, type ResourceRef } from './client.ts'

export interface RemoteClient extends ApiClient {
  /** Whether another server serves this resource. */
  serves(resource: ResourceRef): boolean
}

export function combinedClient(local: ApiClient, remote: RemoteClient): ApiClient {
  const of = (resource: ResourceRef) => (remote.serves(resource) ? remote : local)
  return {
    get: (resource, ...rest) => of(resource).get(resource, ...rest),
    list: (resource, ...rest) => of(resource).list(resource, ...rest),
    create: (resource, ...rest) => of(resource).create(resource, ...rest),
    update: (resource, ...rest) => of(resource).update(resource, ...rest),
    patch: (resource, ...rest) => of(resource).patch(resource, ...rest),
    apply: (resource, ...rest) => of(resource).apply(resource, ...rest),
    delete: (resource, ...rest) => of(resource).delete(resource, ...rest),
    deleteCollection: (resource, ...rest) => of(resource).deleteCollection(resource, ...rest),
    watch: (resource, ...rest) => of(resource).watch(resource, ...rest),
    untilStored: (resource, ...rest) =>
      of(resource).untilStored?.(resource, ...rest) ?? Promise.resolve(),
    async resources() {
      const own = await local.resources()
      try {
        return [...own, ...(await remote.resources())]
      } catch (error) {
        if (!(error instanceof PartialDiscovery)) throw error
        throw new PartialDiscovery(error.message, [...own, ...error.found])
      }
    },
  }
}
