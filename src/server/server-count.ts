/**
 * Finds the servers of a cluster with a fixed number of servers. Each server adds its address to
 * the endpoints of the `kubernetes` service. If there are too many addresses, it removes those that
 * follow its own in sort order. A crashed server stays listed until another server replaces it;
 * leases are faster.
 */
import type { Loose } from '#api/object-meta.ts'
import type { KnownServers, ServerLeasesParts } from './server-leases.ts'

export class ServerCount implements KnownServers {
  readonly #parts: ServerLeasesParts
  readonly #count: number

  constructor(parts: ServerLeasesParts, count: number) {
    this.#parts = parts
    this.#count = count
  }

  async renew(): Promise<string[]> {
    const { address } = this.#parts
    const known = await this.#known()
    if (known.includes(address) && known.length <= this.#count) return known
    const all = [...new Set([...known, address])].sort()
    while (all.length > this.#count) all.splice((all.indexOf(address) + 1) % all.length, 1)
    return all
  }

  async leave(): Promise<string[]> {
    return (await this.#known()).filter((address) => address !== this.#parts.address)
  }

  async #known(): Promise<string[]> {
    const { storage, parse, root } = this.#parts
    const { value } = await storage.get(`${root}/services/endpoints/default/kubernetes`)
    if (value === undefined) return []
    const { subsets = [] } = parse(value.bytes) as Loose
    // Another writer wrote endpoints in another form; replace them.
    if (subsets.length !== 1) return []
    return ((subsets[0].addresses ?? []) as Loose[]).map(({ ip }) => ip as string).sort()
  }
}
