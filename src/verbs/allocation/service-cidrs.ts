/** The known ServiceCIDRs, and their blocks from which services get addresses now. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { AddressBlock } from './address-block.ts'
import type { Family } from './address-pool.ts'

interface KnownCidr {
  readonly blocks: readonly AddressBlock[]
  readonly isReady: boolean
}

const defaultName = 'kubernetes'

export class ServiceCidrs {
  readonly #byName = new Map<string, KnownCidr>()

  changed(cidr: KubeObject): void {
    const texts: string[] = cidr.spec?.cidrs ?? []
    const blocks = texts.map((text) => new AddressBlock(text))
    this.#byName.set(cidr.metadata.name ?? '', { blocks, isReady: isReady(cidr) })
  }

  deleted({ metadata }: KubeObject): void {
    this.#byName.delete(metadata.name ?? '')
  }

  /** The active blocks of a family, those of the default ServiceCIDR first. */
  ready(family: Family): readonly AddressBlock[] {
    const names = [...this.#byName.keys()].filter((name) => name !== defaultName).sort()
    return [defaultName, ...names].flatMap((name) => {
      const known = this.#byName.get(name)
      return known?.isReady ? known.blocks.filter((block) => block.family === family) : []
    })
  }

  /** Whether a ServiceCIDR contains the address, even if it is not active. */
  has(address: string): boolean {
    for (const { blocks } of this.#byName.values())
      if (blocks.some((block) => block.offers(address))) return true
    return false
  }
}

/**
 * Without a condition it counts as ready, because the controller that sets the condition may not
 * run.
 */
function isReady({ metadata, status }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return false
  const conditions: Loose[] = status?.conditions ?? []
  return (conditions.find(({ type }) => type === 'Ready')?.status ?? 'True') === 'True'
}
