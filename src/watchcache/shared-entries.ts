/**
 * Entries and parsed objects of stores that share their bytes, such as forks of one store. The
 * first store that needs an entry makes it for all. Entries and objects are read-only.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { SortedMap } from '#base/sorted-map.ts'
import type { Resource } from '#kinds/kind.ts'
import type { StoreState } from '#storage/storage.ts'
import type { Entry, ParseStored } from './entry.ts'
import type { EntryMaker } from './entry-maker.ts'

interface Loaded {
  readonly resource: Resource
  /** It never changes; each cache has a fork of it. */
  readonly entries: SortedMap<Entry>
}

interface Made {
  readonly resource: Resource
  readonly entry: Entry
}

export class SharedEntries {
  readonly #made = new WeakMap<Buffer, Made>()
  readonly #objects = new WeakMap<Buffer, KubeObject>()

  /** All entries of a resource, by the state of the stores and the prefix of the resource. */
  readonly #loaded = new WeakMap<StoreState, Map<string, Loaded>>()

  /** The entries of a resource, if a store with the same state has loaded them. */
  loaded(resource: Resource, state: StoreState) {
    const known = this.#loaded.get(state)?.get(resource.storagePrefix)
    if (known?.resource !== resource) return undefined
    return { entries: known.entries.fork(), revision: state.revision }
  }

  /** Keeps loaded entries for other stores with the same state. Returns the caller's own map. */
  share(resource: Resource, state: StoreState, entries: SortedMap<Entry>): SortedMap<Entry> {
    const resources = this.#loaded.get(state) ?? new Map<string, Loaded>()
    this.#loaded.set(state, resources.set(resource.storagePrefix, { resource, entries }))
    return entries.fork()
  }

  parser(parse: ParseStored): ParseStored {
    return (bytes) => {
      const known = this.#objects.get(bytes)
      if (known !== undefined) return known
      const object = parse(bytes)
      this.#objects.set(bytes, object)
      return object
    }
  }

  /**
   * A custom kind is defined anew in each store, so its resource differs and its entries are not
   * shared.
   */
  maker(resource: Resource, maker: EntryMaker): EntryMaker {
    return {
      make: (key, revision, bytes, isRead) => {
        const known = this.#made.get(bytes)
        if (known?.resource === resource && known.entry.revision === revision) return known.entry
        const entry = maker.make(key, revision, bytes, isRead)
        this.#made.set(bytes, { resource, entry })
        return entry
      },
    }
  }
}
