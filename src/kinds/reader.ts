/**
 * Read access to other objects for admission, authorization and behaviours. Objects come from the
 * watch cache in the hub version. Callers must not change them.
 */
import type { Awaitable } from '#base/awaitable.ts'
import type { KubeObject } from '#api/object-meta.ts'

export interface Follower {
  /**
   * Whether the follower retains the objects that it gets. It then gets the parsed objects that the
   * reader caches. Other followers get objects that are parsed for one call and not cached.
   */
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
   * Resolves when the follower has got every existing object. Afterwards the watch cache calls the
   * follower synchronously for each change. The returned function ends this.
   */
  follow(group: string, plural: string, follower: Follower): Promise<() => void>
}
