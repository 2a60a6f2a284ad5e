/** Other objects for admission and authorisation: the live picture, parsed once per version of an object and shared. */
import type { KubeObject } from '#api/object-meta.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { Kind, Resource } from '#kinds/kind.ts'
import type { Follower, ObjectReader } from '#kinds/reader.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'
import type { Entry, ParseStored } from '#watchcache/entry.ts'
import type { ResourceCache } from '#watchcache/resource-cache.ts'
import type { WatchCache } from '#watchcache/watch-cache.ts'

export interface ReaderParts {
  readonly catalog: Catalog
  readonly cache: WatchCache
  readonly storage: Storage
  readonly parseStored: ParseStored
}

export function objectReader(parts: ReaderParts): ObjectReader {
  const parsed = new WeakMap<Entry, KubeObject | Promise<KubeObject>>()

  function objectOf(resource: Resource, entry: Entry): KubeObject | Promise<KubeObject> {
    let object = parsed.get(entry)
    if (object === undefined) {
      object = parse(parts, resource, entry)
      parsed.set(entry, object)
    }
    return object
  }

  async function cacheOf(group: string, plural: string): Promise<ResourceCache | undefined> {
    const resource = parts.catalog.resource(group, plural)
    if (resource === undefined || resource.storagePrefix === '') return undefined
    const current = parts.storage.currentRevision()
    const newest = typeof current === 'number' ? current : undefined
    const cache = await parts.cache.of(resource)
    if (newest !== undefined) await parts.cache.freshness.reach(newest, 1000)
    return cache
  }

  return {
    async get(group, plural, namespace, name) {
      const cache = await cacheOf(group, plural)
      if (cache === undefined) return undefined
      const { storagePrefix, namespaced } = cache.resource
      const entry = cache.get(`${storagePrefix}/${namespaced ? `${namespace}/` : ''}${name}`)
      return entry && objectOf(cache.resource, entry)
    },
    async list(group, plural, namespace) {
      const cache = await cacheOf(group, plural)
      if (cache === undefined) return []
      const { storagePrefix } = cache.resource
      const range = prefixRange(namespace ? `${storagePrefix}/${namespace}/` : `${storagePrefix}/`)
      const entries: Entry[] = []
      cache.visit(range.start, range.end, (entry) => {
        entries.push(entry)
      })
      return Promise.all(entries.map((entry) => objectOf(cache.resource, entry)))
    },
    async follow(group, plural, follower) {
      const cache = await cacheOf(group, plural)
      return cache === undefined ? () => {} : followCache(cache, follower, objectOf)
    },
  }
}

/** The stored version as the hub version, with its resourceVersion. */
function parse(parts: ReaderParts, resource: Resource, entry: Entry): KubeObject | Promise<KubeObject> {
  const object = parts.parseStored(entry.cut.bytes)
  object.metadata.resourceVersion = String(entry.revision)
  const from: Kind = resource.kindOf(entry.apiVersion) ?? resource.stored
  const converted = resource.convert([object], from, resource.hub)
  return converted instanceof Promise ? converted.then(([one]) => one) : converted[0]
}

async function followCache(
  cache: ResourceCache,
  follower: Follower,
  objectOf: (resource: Resource, entry: Entry) => KubeObject | Promise<KubeObject>,
): Promise<() => void> {
  const tell = (entry: Entry, how: (object: KubeObject) => void) => {
    const object = objectOf(cache.resource, entry)
    if (object instanceof Promise) object.then(how)
    else how(object)
  }
  const subscriber = {
    namespace: '',
    matches: undefined,
    deliver(_type: unknown, event: { entry: Entry | undefined; previous: Entry | undefined }) {
      if (event.entry === undefined) tell(event.previous as Entry, (object) => follower.deleted(object))
      else tell(event.entry, (object) => follower.changed(object))
    },
    end() {},
  }
  cache.fanOut.add(subscriber)
  const range = prefixRange(`${cache.resource.storagePrefix}/`)
  cache.visit(range.start, range.end, (entry) => tell(entry, (object) => follower.changed(object)))
  return () => cache.fanOut.remove(subscriber)
}
