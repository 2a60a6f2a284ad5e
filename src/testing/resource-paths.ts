/**
 * Finds the path for `apiVersion` and `kind` with the server's discovery documents. A document is
 * cached, and read again if it lacks a kind, because a custom kind may have been defined meanwhile.
 */

export interface ResourcePath {
  /** `/apis/apps/v1` */
  readonly root: string
  readonly plural: string
  readonly namespaced: boolean
}

interface DiscoveryList {
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
  }[]
}

export type ReadJson = (path: string) => Promise<unknown>

export const rootOf = (apiVersion: string) =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`

export class ResourcePaths {
  readonly #read: ReadJson
  readonly #known: Map<string, Map<string, ResourcePath>>

  /** A fork starts with the cached documents of its origin. */
  constructor(read: ReadJson, origin?: ResourcePaths) {
    this.#read = read
    this.#known = new Map(origin === undefined ? [] : origin.#known)
  }

  async of(apiVersion: string, kind: string): Promise<ResourcePath> {
    const known = this.#known.get(apiVersion)?.get(kind)
    if (known !== undefined) return known
    const kinds = await this.#readKinds(apiVersion)
    this.#known.set(apiVersion, kinds)
    const found = kinds.get(kind)
    if (found !== undefined) return found
    const names = [...kinds.keys()].sort().join(', ')
    throw new Error(`${apiVersion} has no kind ${kind}; it has ${names}`)
  }

  async #readKinds(apiVersion: string): Promise<Map<string, ResourcePath>> {
    const root = rootOf(apiVersion)
    const { resources } = (await this.#read(root)) as DiscoveryList
    const kinds = new Map<string, ResourcePath>()
    for (const { name, kind, namespaced } of resources)
      if (!name.includes('/')) kinds.set(kind, { root, plural: name, namespaced })
    return kinds
  }
}

/** The path of an object, of a list (without a name), or of a subresource. */
export function pathOf(
  { root, plural, namespaced }: ResourcePath,
  namespace = '',
  name = '',
  subresource = '',
): string {
  const parts = [root]
  if (namespaced && namespace !== '') parts.push('namespaces', encodeURIComponent(namespace))
  parts.push(plural)
  if (name !== '') parts.push(encodeURIComponent(name))
  if (subresource !== '') parts.push(subresource)
  return parts.join('/')
}
