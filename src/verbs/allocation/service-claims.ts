/**
 * Claims of cluster IPs and node ports, which are visible to all servers on the store, including
 * kube-apiserver. There is one range per address block and one for the ports. It is used only if
 * other servers share the store.
 */
import { internalError } from '#api/status-error.ts'
import type { Type } from '#schema/type.ts'
import type { Storage } from '#storage/storage.ts'
import { allocationForm } from './allocation-form.ts'
import { RangeClaims, RangeUnusable } from './range-claims.ts'
import type { Holding, ServiceStock } from './service-stock.ts'

export interface SharedStore {
  readonly storage: Pick<Storage, 'get' | 'put'>
  /** The prefix of all keys: `/registry`. */
  readonly root: string
  /** The type of RangeAllocation. */
  readonly type: Type
  readonly writesProtobuf: boolean
  /** Set if addresses are objects: then only ports are claimed. */
  readonly onlyPorts?: boolean
}

/**
 * One range: its name in kube-apiserver's error messages, and the numbers of a holding that belong
 * to it.
 */
interface Part {
  readonly what: 'serviceIP' | 'nodePort'
  readonly claims: RangeClaims
  numbersOf(holding: Holding): number[]
  isTaken(number: number): boolean
}

const addressKeys = ['serviceips', 'secondaryserviceips']

export class ServiceClaims {
  readonly #stock: ServiceStock
  readonly #parts: readonly Part[]

  constructor(stock: ServiceStock, shared: SharedStore) {
    const { storage, root, type, writesProtobuf, onlyPorts } = shared
    this.#stock = stock
    const form = allocationForm(type, writesProtobuf)
    const claimsOf = (key: string, range: string, resource: string) =>
      new RangeClaims({ storage, key: `${root}/ranges/${key}`, range, resource, form })
    const pools = onlyPorts ? [] : stock.pools
    const addresses = pools.map((pool, i): Part => {
      const claims = claimsOf(addressKeys[i] as string, pool.block, 'serviceipallocations')
      pool.numbers.claimed = (bit) => claims.has(bit)
      return {
        what: 'serviceIP',
        claims,
        numbersOf: (holding) => holding.addresses.flatMap((address) => pool.bitOf(address) ?? []),
        isTaken: (bit) => pool.numbers.isTaken(bit),
      }
    })
    const { ports } = stock
    const range = `${ports.first}-${ports.last}`
    const claims = claimsOf('servicenodeports', range, 'servicenodeportallocations')
    ports.claimed = (bit) => claims.has(bit)
    const nodePorts: Part = {
      what: 'nodePort',
      claims,
      numbersOf: (holding) => holding.ports.flatMap((port) => ports.bitOf(port) ?? []),
      isTaken: (bit) => ports.isTaken(bit),
    }
    this.#parts = [...addresses, nodePorts]
  }

  /** Reads the claims of all servers. */
  async refresh(): Promise<void> {
    await Promise.all(this.#parts.map(({ claims }) => claims.refresh()))
  }

  /** Claims all numbers or none; returns false if another server claimed one of them first. */
  async claim(wanted: Holding): Promise<boolean> {
    const had: [Part, number[]][] = []
    const outcomes = await Promise.allSettled(
      this.#parts.map(async (part) => {
        const numbers = part.numbersOf(wanted)
        if (numbers.length === 0) return true
        const isHad = await part.claims.claim(numbers)
        if (isHad) had.push([part, numbers])
        return isHad
      }),
    )
    if (outcomes.every((outcome) => outcome.status === 'fulfilled' && outcome.value)) return true
    await Promise.all(had.map(([{ claims }, numbers]) => claims.release(numbers).catch(leftBehind)))
    for (const [i, outcome] of outcomes.entries())
      if (outcome.status === 'rejected') throw asAnswer(this.#parts[i] as Part, outcome.reason)
    return false
  }

  async release(holding: Holding): Promise<void> {
    await Promise.all(
      this.#parts.map(async ({ claims, numbersOf }) => {
        const numbers = numbersOf(holding)
        if (numbers.length > 0) await claims.release(numbers).catch(leftBehind)
      }),
    )
  }

  /**
   * Releases the claims of unused numbers, and claims the numbers of services. `catchUp` updates
   * the stock with all stored services.
   */
  async mend(catchUp: () => Promise<unknown>): Promise<void> {
    await Promise.all(
      this.#parts.map(({ claims, numbersOf, isTaken }) =>
        claims.mend(async () => {
          await catchUp()
          const held = () => new Set([...this.#stock.holdings()].flatMap(numbersOf))
          return { held, busy: isTaken }
        }),
      ),
    )
  }
}

/** The next repair of the ranges finds numbers that could not be released. */
const leftBehind = (): void => {}

const asAnswer = ({ what }: Part, error: unknown): unknown =>
  error instanceof RangeUnusable
    ? internalError(`failed to allocate a ${what}: ${error.message}`)
    : error
