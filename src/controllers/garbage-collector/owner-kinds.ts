/**
 * Resolves apiVersion and kind of an owner reference to a resource, using discovery. Refreshed when
 * the served kinds change.
 */
import type { OwnerReference } from '#api/object-meta.ts'
import { type ApiClient, PartialDiscovery, type ResourceRef } from '#client/client.ts'

export type Served = Awaited<ReturnType<ApiClient['resources']>>[number]

export class OwnerKinds {
  readonly #client: ApiClient
  /** By `apiVersion/kind`. */
  #byKind = new Map<string, Served>()
  #served: readonly Served[] = []

  constructor(client: ApiClient) {
    this.#client = client
  }

  /** Everything that can be followed and deleted. */
  async refresh(): Promise<readonly Served[]> {
    this.#served = await this.#client.resources().catch((error) => {
      // Kinds of an unavailable aggregated server are unknown until it returns, so their dependents
      // are kept.
      if (error instanceof PartialDiscovery) return error.found
      throw error
    })
    this.#byKind = new Map()
    for (const served of this.#served) {
      for (const apiVersion of served.apiVersions)
        this.#byKind.set(`${apiVersion}/${served.kind}`, served)
    }
    return this.#served.filter(({ verbs }) =>
      ['delete', 'list', 'watch'].every((verb) => verbs.has(verb)),
    )
  }

  of({ apiVersion, kind }: OwnerReference): Served | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`)
  }

  isNamespaced(resource: ResourceRef): boolean {
    const { group, plural } = resource
    return this.#served.some(
      (one) => one.group === group && one.plural === plural && one.namespaced,
    )
  }
}
