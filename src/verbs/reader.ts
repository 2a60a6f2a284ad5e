/**
 * Reads objects for admission and authorization from the watch cache. Each version of an object is
 * parsed once and shared.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Follower, ObjectReader } from '#kinds/reader.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'
import type { Entry, ParseStored } from '#watchcache/entry.ts'
import type { ResourceCache } from '#watchcache/resource-cache.ts'
import type { WatchCache } from '#watchcache/watch-cache.ts'
import { shownObject } from './shown-object.ts'

export interface ReaderParts {
  readonly catalog: Catalog
  readonly cache: WatchCache
  readonly storage: Storage
  readonly parseStored: ParseStored
}

/** How long a read waits until the watch cache contains all earlier writes. */
const freshWaitMsMax = 1000

type ObjectOf = (resource: Resource, entry: Entry) => Awaitable<KubeObject>

/** The objects of entries, each parsed once for all readers. */
function parsedObjects(parseStored: ParseStored) {
  const parsed = new WeakMap<Entry, Awaitable<KubeObject>>()
  const shown: ObjectOf = (resource, entry) =>
    shownObject(parseStored, entry, resource.hub, entry.revision)
  const objectOf: ObjectOf = (resource, entry) => {
    let object = parsed.get(entry)
    if (object === undefined) {
      object = shown(resource, entry)
      parsed.set(entry, object)
    }
    return object
  }
  return { parsed, shown, objectOf }
}

function objectsIn(
  cache: ResourceCache,
  namespace: string | undefined,
  objectOf: ObjectOf,
): Awaitable<KubeObject[]> {
  const { storagePrefix } = cache.resource
  const range = prefixRange(namespace ? `${storagePrefix}/${namespace}/` : `${storagePrefix}/`)
  const objects: (KubeObject | Promise<KubeObject>)[] = []
  cache.visit(range.start, range.end, (entry) => {
    objects.push(objectOf(cache.resource, entry))
  })
  return objects.some((object) => object instanceof Promise)
    ? Promise.all(objects)
    : (objects as KubeObject[])
}

export function objectReader(parts: ReaderParts): ObjectReader {
  const { shown, parsed, objectOf } = parsedObjects(parts.parseStored)

  /**
   * Reading the revision of a remote store is expensive, so it is done only before an object is
   * reported missing.
   */
  let isLocal = true

  const { freshness } = parts.cache

  const newest = (): Awaitable<boolean> =>
    isLocal ||
    after(parts.storage.currentRevision(), (revision) => freshness.reach(revision, freshWaitMsMax))

  /** Usually synchronous: the cache is loaded and up to date. */
  function cacheOf(
    group: string,
    plural: string,
    isRead = false,
  ): Awaitable<ResourceCache | undefined> {
    const resource = parts.catalog.resource(group, plural)
    if (resource === undefined || resource.storagePrefix === '') return undefined
    const current = isLocal ? parts.storage.currentRevision() : undefined
    if (current instanceof Promise) {
      isLocal = false
      current.catch(() => {})
    }
    const isFresh = typeof current !== 'number' || freshness.reach(current, freshWaitMsMax)
    return after(isFresh, () => parts.cache.of(resource, isRead))
  }

  const found = (cache: ResourceCache | undefined, key: string) => {
    const entry = cache?.get(key)
    return cache && entry && objectOf(cache.resource, entry)
  }

  return {
    get(group, plural, namespace, name) {
      return after(cacheOf(group, plural), (cache) => {
        if (cache === undefined) return undefined
        const { storagePrefix, namespaced } = cache.resource
        const key = `${storagePrefix}/${namespaced ? `${namespace}/` : ''}${name}`
        if (cache.get(key) !== undefined) return found(cache, key)
        // The cache may have been reloaded during the wait.
        return after(newest(), () => after(cacheOf(group, plural), (now) => found(now, key)))
      })
    },
    list(group, plural, namespace) {
      return after(cacheOf(group, plural), (cache) =>
        cache === undefined || cache.size === 0 ? [] : objectsIn(cache, namespace, objectOf),
      )
    },
    async follow(group, plural, follower) {
      const load = async () => cacheOf(group, plural, follower.keeps)
      const cache = await load()
      if (cache === undefined) return () => {}
      // A follower that keeps no objects gets temporary ones: caching all parsed pods would double
      // their memory.
      const objectFor = follower.keeps
        ? objectOf
        : (resource: Resource, entry: Entry) => parsed.get(entry) ?? shown(resource, entry)
      return new Following(follower, load, objectFor, () => parts.cache.closed).begin(cache)
    },
  }
}

/** The pause before a cache that failed to load is loaded again. */
const retryMs = 500

/**
 * Follows all objects of a resource. If the watch cache is reloaded because the store compacted
 * missed changes, the follower gets the difference. So its state is never older than the watch
 * cache.
 */
class Following {
  readonly #follower: Follower
  readonly #load: () => Promise<ResourceCache | undefined>
  readonly #objectOf: (resource: Resource, entry: Entry) => KubeObject | Promise<KubeObject>
  readonly #isClosed: () => boolean
  /** The cache that it followed last; it no longer changes after the follower has left it. */
  #last: ResourceCache | undefined
  #leave = () => {}
  #stopped = false

  constructor(
    follower: Follower,
    load: () => Promise<ResourceCache | undefined>,
    objectOf: (resource: Resource, entry: Entry) => KubeObject | Promise<KubeObject>,
    isClosed: () => boolean,
  ) {
    this.#follower = follower
    this.#load = load
    this.#objectOf = objectOf
    this.#isClosed = isClosed
  }

  begin(cache: ResourceCache): () => void {
    this.#attach(cache)
    return () => {
      this.#stopped = true
      this.#leave()
    }
  }

  #attach(cache: ResourceCache): void {
    const subscriber = {
      namespace: '',
      matches: undefined,
      deliver: (
        _type: unknown,
        { entry, previous }: { entry: Entry | undefined; previous: Entry | undefined },
      ) => (entry === undefined ? this.#gone(cache, previous as Entry) : this.#there(cache, entry)),
      end: () => void this.#again(),
    }
    this.#leave = () => cache.fanOut.remove(subscriber)
    cache.fanOut.add(subscriber)
    const last = this.#last
    this.#last = cache
    const { start, end } = prefixRange(`${cache.resource.storagePrefix}/`)
    cache.visit(start, end, (entry) => {
      if (last?.get(entry.key)?.revision !== entry.revision) this.#there(cache, entry)
    })
    last?.visit(start, end, (entry) => {
      if (cache.get(entry.key) === undefined) this.#gone(cache, entry)
    })
  }

  #there(cache: ResourceCache, entry: Entry): void {
    this.#notify(cache, entry, (object) => this.#follower.changed(object))
  }

  #gone(cache: ResourceCache, entry: Entry): void {
    this.#notify(cache, entry, (object) => this.#follower.deleted(object))
  }

  #notify({ resource }: ResourceCache, entry: Entry, how: (object: KubeObject) => void): void {
    const object = this.#objectOf(resource, entry)
    if (object instanceof Promise) object.then(how)
    else how(object)
  }

  async #again(): Promise<void> {
    while (!this.#stopped && !this.#isClosed()) {
      const cache = await this.#load().catch(() => undefined)
      if (this.#stopped) return
      if (cache !== undefined) return this.#attach(cache)
      await new Promise<void>((resolve) => setTimeout(resolve, retryMs).unref())
    }
  }
}
