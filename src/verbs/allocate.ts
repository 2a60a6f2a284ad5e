/**
 * What a write takes from a common stock before it is stored: cluster IPs and node ports of
 * services. A reservation is kept when the write succeeds and given back when it does not; a dry
 * run keeps nothing.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Context, Kind } from '#kinds/kind.ts'

export interface Reservation {
  /** The write is stored: unused allocations are released. */
  keep(): Promise<void> | undefined
  /** The write failed, or was a dry run. */
  giveBack(error?: unknown): Promise<void> | undefined
}

export interface Allocators {
  /**
   * Fills in what the server assigns, in place. Throws ApiError where nothing is left or something
   * is taken.
   */
  reserve(
    kind: Kind,
    next: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Reservation | undefined | Promise<Reservation | undefined>
  /** The object, as it was before, is deleted: gone, or held by finalizers only. */
  release(kind: Kind, object: KubeObject): Promise<void> | undefined
  /**
   * For a store with other users: repairs allocations that a client removed and that no object
   * holds.
   */
  repair(): Promise<void>
}

/**
 * Only services take anything: what looks after that is loaded when the first of them is written.
 */
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
