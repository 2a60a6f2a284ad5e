/**
 * The source of service addresses: the blocks configured at the server's start, or the ServiceCIDRs
 * if addresses are objects.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { AddressObjects } from './address-objects.ts'
import type { Family } from './address-pool.ts'
import type { ServiceTaking } from './service-taking.ts'

export interface AddressSource {
  /** The families, the default one first. */
  readonly families: readonly Family[]
  /** Any free address, or the reason why there is none. */
  takeAny(family: Family): Promise<{ address: string } | { why: string }>
  /** The reason why the address cannot be allocated; undefined on success. */
  take(family: Family, address: string): Promise<string | undefined>
}

const isFull = { why: 'range is full' }

/** A dry run does not check whether an address is free, and shows the first one of the block. */
export function addressesOfBlocks(taking: ServiceTaking, upperFirst: boolean): AddressSource {
  return {
    families: taking.families,
    async takeAny(family) {
      if (taking.isDryRun) return { address: taking.poolOf(family).begin }
      const address = taking.takeAnyAddress(family, upperFirst)
      return address === undefined ? isFull : { address }
    },
    async take(family, address) {
      const pool = taking.poolOf(family)
      if (pool.bitOf(address) === undefined) return outsideOf(address, pool.block)
      return taking.isDryRun ? undefined : taking.takeAddress(family, address)
    },
  }
}

/**
 * Creates an object for each address. `objects` knows most existing ones; the store rejects the
 * others.
 */
export function addressesOfObjects(
  taking: ServiceTaking,
  objects: AddressObjects,
  service: KubeObject,
  random: () => number,
): AddressSource {
  const { cidrs } = objects
  return {
    families: taking.families,
    async takeAny(family) {
      for (const block of cidrs.ready(family)) {
        if (taking.isDryRun) return { address: block.begin }
        for (const address of block.addresses(random)) {
          if (objects.isKnown(address)) continue
          if (await taking.takeObject(address, service)) return { address }
        }
      }
      return isFull
    },
    async take(family, address) {
      const blocks = cidrs.ready(family)
      const isOffered = blocks.some((block) => block.offers(address))
      if (taking.isDryRun) {
        const [block] = blocks
        return isOffered || block === undefined ? undefined : outsideOf(address, block.text)
      }
      if (!isOffered) return 'the provided network does not match the current range'
      const isTaken = !(await taking.takeObject(address, service))
      return isTaken ? 'provided IP is already allocated' : undefined
    },
  }
}

const outsideOf = (address: string, block: string): string =>
  `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${block}`
