/**
 * What a write takes from a common stock before it is stored: cluster IPs and node ports of services. A reservation is
 * kept when the write succeeds and given back when it does not; a dry run keeps nothing.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Context, Kind } from '#kinds/kind.ts'

export interface Reservation {
  /** The write is stored: what is no longer used is released. */
  keep(): void
  /** The write failed, or was a dry run. */
  giveBack(): void
}

export interface Allocators {
  /** Fills in what the server assigns, in place. Throws ApiError where nothing is left or something is taken. */
  reserve(
    kind: Kind,
    next: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Reservation | undefined | Promise<Reservation | undefined>
  /** The object is gone. */
  release(kind: Kind, object: KubeObject): void
}
