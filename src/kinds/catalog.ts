/**
 * Every kind served, in one map: one lookup whether it is built in, custom or aggregated. Custom kinds come and go while
 * the server runs; whoever keeps something derived from the catalog listens for that.
 */
import type { Kind, Resource } from './kind.ts'

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export class Catalog {
  readonly #byPath = new Map<string, Kind>()
  readonly #byResource = new Map<string, Resource>()
  readonly #resources = new Set<Resource>()
  readonly #listeners = new Set<() => void>()
  /** Groups and versions in the order discovery shows them, built-in ones first. */
  #order: GroupVersion[]
  #generation = 0

  constructor(order: readonly GroupVersion[]) {
    this.#order = [...order]
  }

  /** Grows with every change: what was derived from an older generation is stale. */
  get generation(): number {
    return this.#generation
  }

  get groupVersions(): readonly GroupVersion[] {
    return this.#order
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  /** A resource by its group and plural name, whatever versions are served. */
  resource(group: string, plural: string): Resource | undefined {
    return this.#byResource.get(`${group}/${plural}`)
  }

  resources(): Iterable<Resource> {
    return this.#resources
  }

  /** The kinds of one group version, in the order they were added. */
  kindsOf(group: string, version: string): Kind[] {
    const found: Kind[] = []
    for (const kind of this.#byPath.values()) {
      if (kind.group === group && kind.version === version) found.push(kind)
    }
    return found
  }

  /** A kind by its apiVersion and kind, as owner references and manifests name it. */
  byKind(apiVersion: string, kind: string): Kind | undefined {
    for (const found of this.#byPath.values()) {
      if (found.kind === kind && found.apiVersion === apiVersion) return found
    }
    return undefined
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#order.some((one) => one.group === group && one.version === version)
  }

  add(resource: Resource): void {
    this.#resources.add(resource)
    for (const kind of resource.kinds) {
      this.#byPath.set(`${kind.group}/${kind.version}/${kind.plural}`, kind)
      this.#byResource.set(`${kind.group}/${kind.plural}`, resource)
      if (!this.hasGroupVersion(kind.group, kind.version)) {
        this.#order.push({ group: kind.group, version: kind.version })
      }
    }
    this.#changed()
  }

  remove(resource: Resource): void {
    if (!this.#resources.delete(resource)) return
    for (const kind of resource.kinds) {
      this.#byPath.delete(`${kind.group}/${kind.version}/${kind.plural}`)
      this.#byResource.delete(`${kind.group}/${kind.plural}`)
      if (this.kindsOf(kind.group, kind.version).length > 0) continue
      this.#order = this.#order.filter(
        (one) => one.group !== kind.group || one.version !== kind.version,
      )
    }
    this.#changed()
  }

  /** Calls whenever kinds came or went; answers how to stop listening. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #changed(): void {
    this.#generation++
    for (const listener of this.#listeners) listener()
  }
}
