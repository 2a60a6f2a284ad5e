/**
 * A reader of objects for tests: the test adds and removes objects, and followers are notified at
 * once.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Follower, ObjectReader } from '#kinds/reader.ts'

export class MemoryReader implements ObjectReader {
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #followers = new Map<string, Set<Follower>>()
  /** The number of calls of `get`. */
  gets = 0

  put(group: string, plural: string, object: KubeObject): void {
    this.#of(group, plural).set(keyOf(object), object)
    for (const follower of this.#followers.get(`${group}/${plural}`) ?? []) follower.changed(object)
  }

  remove(group: string, plural: string, namespace: string, name: string): void {
    const objects = this.#of(group, plural)
    const object = objects.get(`${namespace}/${name}`)
    if (object === undefined) return
    objects.delete(`${namespace}/${name}`)
    for (const follower of this.#followers.get(`${group}/${plural}`) ?? []) follower.deleted(object)
  }

  async get(group: string, plural: string, namespace: string, name: string) {
    this.gets++
    return this.#of(group, plural).get(`${namespace}/${name}`)
  }

  async list(group: string, plural: string, namespace?: string) {
    const objects = [...this.#of(group, plural).values()]
    return namespace === undefined
      ? objects
      : objects.filter(({ metadata }) => metadata.namespace === namespace)
  }

  async follow(group: string, plural: string, follower: Follower) {
    const key = `${group}/${plural}`
    const followers = this.#followers.get(key) ?? new Set()
    this.#followers.set(key, followers.add(follower))
    for (const object of this.#of(group, plural).values()) follower.changed(object)
    return () => void followers.delete(follower)
  }

  #of(group: string, plural: string): Map<string, KubeObject> {
    const key = `${group}/${plural}`
    let objects = this.#objects.get(key)
    if (objects === undefined) this.#objects.set(key, (objects = new Map()))
    return objects
  }
}

const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`
