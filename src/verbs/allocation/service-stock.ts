/**
 * The cluster IPs and node ports there are, and which of them services hold: those stored by
 * this server and by any other
 * on the same store. It gives nothing out by itself.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { AddressPool, familyOf } from './address-pool.ts'
import { keptBelow, NumberPool } from './number-pool.ts'

export interface ServiceRanges {
  readonly addressBlocks: readonly string[]
  readonly nodePorts: { readonly first: number; readonly last: number }
}

/** What a service has, or a write wants. */
export interface Holding {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

export const nothing: Holding = { addresses: [], ports: [] }

export class ServiceStock {
  readonly pools: readonly AddressPool[]
  readonly ports: NumberPool
  /** How many of the lowest ports are given out last, in releases that do. */
  readonly portsKept: number
  /** By the uid of the service: one that comes back by its name is another. */
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

  /** What each service has that is known to be stored. */
  holdings(): Iterable<Holding> {
    return this.#held.values()
  }

  /**
   * The service is stored as it is here: it holds what it has, and no longer what it had. May be
   * called twice.
   */
  hold(service: KubeObject): void {
    this.#replace(service, isGoing(service) ? nothing : holdingOf(service))
  }

  /** The service is gone. May be called twice. */
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
      if (!next.addresses.includes(address)) this.poolOf(address)?.giveBack(address)
    for (const port of before.ports) if (!next.ports.includes(port)) this.ports.giveBack(port)
  }
}

/**
 * A deletion frees what a service has, though finalizers may keep the service itself: others may
 * have it by now.
 */
export const isGoing = ({ metadata }: KubeObject): boolean =>
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
