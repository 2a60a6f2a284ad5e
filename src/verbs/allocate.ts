/**
 * Allocation of cluster IPs and node ports, before a service is stored. The reservation is kept if
 * the write succeeds, and released otherwise or after a dry run.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Context, Kind } from '#kinds/kind.ts'

export interface Reservation {
  /** The write was stored: unused allocations are released. */
  keep(): Promise<void> | undefined
  /** The write failed, or was a dry run. */
  giveBack(error?: unknown): Promise<void> | undefined
}

export interface Allocators {
  /**
   * Sets the fields that the server allocates. Throws ApiError if nothing is left or a requested
   * value is in use.
   */
  reserve(
    kind: Kind,
    next: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Reservation | undefined | Promise<Reservation | undefined>
  /** The object was deleted, or only finalizers keep it. `object` is its previous state. */
  release(kind: Kind, object: KubeObject): Promise<void> | undefined
  /**
   * For a shared store: restores allocations that a client removed, and releases those that no
   * object holds.
   */
  repair(): Promise<void>
}

/** Only services allocate, so the allocators are loaded with the first service. */
export function forServices(load: () => Allocators): Allocators {
  let made: Allocators | undefined
  const isService = ({ resource }: Kind) => resource.group === '' && resource.plural === 'services'
  return {
    reserve(kind, next, old, context) {
      if (!isService(kind)) return undefined
      made ??= load()
      return made.reserve(kind, next, old, context)
    },
    release(kind, object) {
      return isService(kind) ? made?.release(kind, object) : undefined
    },
    repair() {
      made ??= load()
      return made.repair()
    },
  }
}
