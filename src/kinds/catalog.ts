/**
 * Every served kind in one map: built-in, custom and aggregated. Custom kinds can change while the
 * server runs, so code that caches derived data subscribes to changes.
 */
import type { Kind, Resource } from './kind.ts'

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

const apiVersionOf = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`

export class Catalog {
  readonly #byPath = new Map<string, Kind>()
  /** Kinds by apiVersion and plural, so that a lookup visits only one group version. */
  readonly #byVersion = new Map<string, Map<string, Kind>>()
  readonly #byResource = new Map<string, Resource>()
  readonly #resources = new Set<Resource>()
  readonly #listeners = new Set<() => void>()
  /** Group versions in the order of discovery, built-in ones first. */
  #order: GroupVersion[]
  readonly #ordered: Set<string>
  #generation = 0

  constructor(order: readonly GroupVersion[]) {
    this.#order = [...order]
    this.#ordered = new Set(order.map(({ group, version }) => apiVersionOf(group, version)))
  }

  /** Increases with every change, so that caches can detect outdated data. */
  get generation(): number {
    return this.#generation
  }

  get groupVersions(): readonly GroupVersion[] {
    return this.#order
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  /** A resource by group and plural name, independent of served versions. */
  resource(group: string, plural: string): Resource | undefined {
    return this.#byResource.get(`${group}/${plural}`)
  }

  resources(): Iterable<Resource> {
    return this.#resources
  }

  /** The kinds of one group version, in the order they were added. */
  kindsOf(group: string, version: string): Kind[] {
    return [...(this.#byVersion.get(apiVersionOf(group, version))?.values() ?? [])]
  }

  /** A kind by its apiVersion and kind, as owner references and manifests name it. */
  byKind(apiVersion: string, kind: string): Kind | undefined {
    for (const found of this.#byVersion.get(apiVersion)?.values() ?? []) {
      if (found.kind === kind) return found
    }
    return undefined
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#ordered.has(apiVersionOf(group, version))
  }

  add(resource: Resource): void {
    this.#resources.add(resource)
    for (const kind of resource.kinds) {
      const { group, version, plural } = kind
      const apiVersion = apiVersionOf(group, version)
      this.#byPath.set(`${group}/${version}/${plural}`, kind)
      this.#byResource.set(`${group}/${plural}`, resource)
      const neighbours = this.#byVersion.get(apiVersion)
      if (neighbours === undefined) this.#byVersion.set(apiVersion, new Map([[plural, kind]]))
      else neighbours.set(plural, kind)
      if (this.#ordered.has(apiVersion)) continue
      this.#ordered.add(apiVersion)
      this.#order.push({ group, version })
    }
    this.#changed()
  }

  remove(resource: Resource): void {
    if (!this.#resources.delete(resource)) return
    for (const kind of resource.kinds) {
      const { group, version, plural } = kind
      const apiVersion = apiVersionOf(group, version)
      this.#byPath.delete(`${group}/${version}/${plural}`)
      this.#byResource.delete(`${group}/${plural}`)
      const neighbours = this.#byVersion.get(apiVersion)
      neighbours?.delete(plural)
      if (neighbours !== undefined && neighbours.size > 0) continue
      this.#byVersion.delete(apiVersion)
      this.#ordered.delete(apiVersion)
      this.#order = this.#order.filter((one) => one.group !== group || one.version !== version)
    }
    this.#changed()
  }

  /** Notifies listeners that a property of a resource has changed. */
  retell(): void {
    this.#changed()
  }

  /** Calls the listener after kinds were added or removed. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #changed(): void {
    this.#generation++
    for (const listener of this.#listeners) listener()
  }
}
