/** Where the addresses of services come from: the blocks that the server was started with. */
import type { Family } from './address-pool.ts'
import type { ServiceTaking } from './service-taking.ts'

export interface AddressSource {
  /** The default one first. */
  readonly families: readonly Family[]
  /** Any free address, or why there is none. */
  takeAny(family: Family): Promise<{ address: string } | { why: string }>
  /** Why the address cannot be had, if so. */
  take(family: Family, address: string): Promise<string | undefined>
}

/** A dry run does not look whether an address is free, and shows the first of the block. */
export function addressesOfBlocks(taking: ServiceTaking, upperFirst: boolean): AddressSource {
  return {
    families: taking.families,
    async takeAny(family) {
      if (taking.isDryRun) return { address: taking.poolOf(family).begin }
      const address = taking.takeAnyAddress(family, upperFirst)
      return address === undefined ? { why: 'range is full' } : { address }
    },
    async take(family, address) {
      const pool = taking.poolOf(family)
      if (pool.bitOf(address) === undefined) return outsideOf(address, pool.block)
      return taking.isDryRun ? undefined : taking.takeAddress(family, address)
    },
  }
}

const outsideOf = (address: string, block: string): string =>
  `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${block}`
