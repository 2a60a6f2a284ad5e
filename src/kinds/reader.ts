/**
 * Read access to other objects for admission, authorization and behaviours. Objects come from the
 * watch cache in the hub version. Callers must not change them.
 */
import type { Awaitable } from '#base/awaitable.ts'
import type { KubeObject } from '#api/object-meta.ts'

export interface Follower {
  /** Whether the follower retains every object. Followers can then share the objects. */
  readonly keeps?: boolean
  /** Called once for each existing object, then for each write. */
  changed(object: KubeObject): void
  deleted(object: KubeObject): void
}

export interface ObjectReader {
  get(
    group: string,
    plural: string,
    namespace: string,
    name: string,
  ): Awaitable<KubeObject | undefined>
  list(group: string, plural: string, namespace?: string): Awaitable<KubeObject[]>
  /**
   * Resolves once every existing object has been handed over. Calls are made synchronously as the
   * live picture moves.
   */
  follow(group: string, plural: string, follower: Follower): Promise<() => void>
}
