/**
 * Other objects, as admission, authorisation and behaviours with state see them: read-only, from
 * the live picture, in the hub version. What is returned must not be changed.
 */
import type { Awaitable } from '#base/awaitable.ts'
import type { KubeObject } from '#api/object-meta.ts'

export interface Follower {
  /** It keeps every object that it receives: others may share them without cost. */
  readonly keeps?: boolean
  /** Every object there is, once, then every object written. */
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
