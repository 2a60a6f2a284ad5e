/**
 * Entries and parsed objects of stores that share their bytes, such as forks of one store. The
 * first store that needs an entry makes it for all. Entries and objects are read-only.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Entry, ParseStored } from './entry.ts'
import type { EntryMaker } from './entry-maker.ts'

interface Made {
  readonly resource: Resource
  readonly entry: Entry
}

export class SharedEntries {
  readonly #made = new WeakMap<Buffer, Made>()
  readonly #objects = new WeakMap<Buffer, KubeObject>()

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
