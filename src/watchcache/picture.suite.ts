/** A resource without rules, with its objects and changes, for tests of the watch cache. */
import type { KubeObject } from '#api/object-meta.ts'
import { cutStored } from '#codec/cut-object.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Storage } from '#storage/storage.ts'
import type { Entry } from './entry.ts'
import { cacheEvent } from './history.ts'

export const root = '/registry'

/** A resource with only its place in the store. */
export function plainResource(plural: string): Resource {
  const kind = { apiVersion: 'v1', kind: 'Thing', namespaced: true }
  const resource = {
    group: '',
    plural,
    storagePrefix: `${root}/${plural}`,
    namespaced: true,
    behaviour: {},
    hub: kind,
    stored: kind,
    kindOf: () => kind,
    convert: (objects: KubeObject[]) => objects,
  }
  return resource as unknown as Resource
}

export const parse = (bytes: Buffer): KubeObject => JSON.parse(bytes.toString('utf8'))

export function thing(namespace: string, name: string, labels?: Record<string, string>): Buffer {
  const metadata = { name, namespace, uid: 'u', ...(labels && { labels }) }
  return Buffer.from(JSON.stringify({ kind: 'Thing', apiVersion: 'v1', metadata }))
}

export function entryOf(
  name: string,
  revision: number,
  labels?: Record<string, string>,
  namespace = 'a',
): Entry {
  const bytes = thing(namespace, name, labels)
  return {
    key: `${root}/things/${namespace}/${name}`,
    namespace,
    name,
    revision,
    cut: cutStored(bytes, parse(bytes)),
    apiVersion: 'v1',
    labels,
    fields: undefined,
  }
}

export const eventOf = (revision: number, entry?: Entry, previous?: Entry, at = revision) =>
  cacheEvent(revision, entry, previous, at)

/** Runs all pending work: promises, then one turn of the event loop. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A store with some of its methods replaced. */
export function overlaid(storage: Storage, changed: Partial<Storage>): Storage {
  return new Proxy(storage, {
    get(target, name: keyof Storage) {
      const own = changed[name] ?? target[name]
      return typeof own === 'function' && changed[name] === undefined
        ? own.bind(target as never)
        : own
    },
  })
}
