/**
 * The cluster IPs and node ports, with those that services hold. The services may have been stored
 * by this server or by another one on the same store. It allocates nothing itself.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { AddressPool, familyOf } from './address-pool.ts'
import { keptBelow, NumberPool } from './number-pool.ts'

export interface ServiceRanges {
  readonly addressBlocks: readonly string[]
  readonly nodePorts: { readonly first: number; readonly last: number }
}

/** The numbers that a service holds or a write requests. */
export interface Holding {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

export const nothing: Holding = { addresses: [], ports: [] }

export class ServiceStock {
  readonly pools: readonly AddressPool[]
  readonly ports: NumberPool
  /** How many of the lowest ports are allocated last, in releases with that rule. */
  readonly portsKept: number
  /** Keyed by uid, because a recreated service has the same name. */
  readonly #held = new Map<string, Holding>()

  constructor(ranges: ServiceRanges, random: () => number) {
    this.pools = ranges.addressBlocks.map((block) => new AddressPool(block, random))
    const { first, last } = ranges.nodePorts
    this.ports = new NumberPool(first, last, random)
    this.portsKept = keptBelow(last - first + 1, { least: 16, most: 128, step: 32 })
  }

  poolOf(address: string): AddressPool | undefined {
    const family = familyOf(address)
    return this.pools.find((pool) => pool.family === family)
  }

  /** The holdings of all services that are known to be stored. */
  holdings(): Iterable<Holding> {
    return this.#held.values()
  }

  /**
   * Records that the service is stored: it holds its current numbers and releases its previous
   * ones. Idempotent.
   */
  hold(service: KubeObject): void {
    this.#replace(service, isBeingDeleted(service) ? nothing : holdingOf(service))
  }

  /** Records that the service was deleted. Idempotent. */
  drop(service: KubeObject): void {
    this.#replace(service, nothing)
    this.#held.delete(service.metadata.uid ?? '')
  }

  #replace({ metadata }: KubeObject, next: Holding): void {
    const uid = metadata.uid ?? ''
    const before = this.#held.get(uid) ?? nothing
    this.#held.set(uid, next)
    for (const address of next.addresses)
      if (!before.addresses.includes(address)) this.poolOf(address)?.hold(address)
    for (const port of next.ports) if (!before.ports.includes(port)) this.ports.hold(port)
    for (const address of before.addresses)
      if (!next.addresses.includes(address)) this.poolOf(address)?.releaseMemory(address)
    for (const port of before.ports) if (!next.ports.includes(port)) this.ports.releaseMemory(port)
  }
}

/**
 * A service that is being deleted holds nothing, even if finalizers keep it: others may already use
 * its numbers.
 */
export const isBeingDeleted = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined

export const holdingOf = (service: KubeObject): Holding => ({
  addresses: addressesOf(service),
  ports: portsOf(service),
})

function addressesOf({ spec }: KubeObject): string[] {
  const all: string[] = spec?.clusterIPs?.length
    ? spec.clusterIPs
    : spec?.clusterIP
      ? [spec.clusterIP]
      : []
  return all.filter((address) => address !== 'None' && address !== '')
}

function portsOf({ spec }: KubeObject): number[] {
  const ports = ((spec?.ports ?? []) as Loose[]).map(({ nodePort }) => nodePort ?? 0)
  return [...new Set([...ports, spec?.healthCheckNodePort ?? 0])].filter((port) => port !== 0)
}
