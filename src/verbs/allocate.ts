/**
 * Allocates the cluster IPs and node ports of a service before it is stored. The reservation is
 * kept if the write succeeds, and released otherwise or after a dry run.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { ResourceRef } from '#client/client.ts'
import type { Context, Kind } from '#kinds/kind.ts'

export interface Reservation {
  /** The write was stored: unused allocations are released. */
  keep(): Promise<void> | undefined
  /** The write failed, or was a dry run. */
  releaseMemory(error?: unknown): Promise<void> | undefined
}

export interface Allocators {
  /**
   * Sets the fields that the server allocates. Throws ApiError if nothing is free or a requested
   * value is in use.
   */
  reserve(
    kind: Kind,
    next: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Reservation | undefined | Promise<Reservation | undefined>
  /**
   * The object was deleted or, with `isHeld`, only finalizers keep it. `object` is its previous
   * state.
   */
  release(kind: Kind, object: KubeObject, isHeld?: boolean): Promise<void> | undefined
  /**
   * For a shared store, or addresses that are IPAddress objects: restores allocations that a client
   * removed, and releases those that no object holds.
   */
  repair(): Promise<void>
}

/**
 * Only services allocate, so the allocators are loaded with the first service. With `keepsObjects`
 * they are also loaded with the first deletion, which has objects to delete.
 */
export function forServices(load: () => Allocators, keepsObjects = false): Allocators {
  let made: Allocators | undefined
  const isService = ({ resource }: Kind) => resource.group === '' && resource.plural === 'services'
  return {
    reserve(kind, next, old, context) {
      if (!isService(kind)) return undefined
      made ??= load()
      return made.reserve(kind, next, old, context)
    },
    release(kind, object, isHeld) {
      if (!isService(kind)) return undefined
      // Ranges are only in memory. Deletions matter only for IPAddress objects of an earlier run.
      if (keepsObjects && !isHeld) made ??= load()
      return made?.release(kind, object, isHeld)
    },
    repair() {
      made ??= load()
      return made.repair()
    },
  }
}

const networking = 'networking.k8s.io'

interface ServedKinds {
  find(group: string, version: string, plural: string): unknown
}

/** The kinds of address objects in the served version. */
export interface AddressApi {
  readonly ipAddresses: ResourceRef
  readonly serviceCidrs: ResourceRef
}

/**
 * Undefined if addresses come from ranges: in older releases, and if --runtime-config disables the
 * version.
 */
export function addressApi(
  feature: (gate: string) => boolean,
  catalog: ServedKinds,
): AddressApi | undefined {
  if (!feature('MultiCIDRServiceAllocator')) return undefined
  for (const version of ['v1', 'v1beta1']) {
    const ref = (plural: string) => ({ group: networking, version, plural })
    if (catalog.find(networking, version, 'ipaddresses') === undefined) continue
    return { ipAddresses: ref('ipaddresses'), serviceCidrs: ref('servicecidrs') }
  }
  return undefined
}
