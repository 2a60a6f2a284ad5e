/**
 * The cluster IPs and node ports of services as claims that every server on the store sees,
 * kube-apiserver too: one range for each block of addresses and one for the ports. It exists only
 * where the store has other users.
 */
import { internalError } from '#api/status-error.ts'
import type { Type } from '#schema/type.ts'
import type { Storage } from '#storage/storage.ts'
import { allocationForm } from './allocation-form.ts'
import { RangeClaims, RangeUnusable } from './range-claims.ts'
import type { Holding, ServiceStock } from './service-stock.ts'

export interface SharedStore {
  readonly storage: Pick<Storage, 'get' | 'put'>
  /** What all keys begin with: `/registry`. */
  readonly root: string
  /** That of a RangeAllocation. */
  readonly type: Type
  readonly writesProtobuf: boolean
}

/**
 * One range: kube-apiserver's name when nothing is left, and which of a holding's numbers belong to
 * it.
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

  constructor(stock: ServiceStock, { storage, root, type, writesProtobuf }: SharedStore) {
    this.#stock = stock
    const form = allocationForm(type, writesProtobuf)
    const claimsOf = (key: string, range: string, resource: string) =>
      new RangeClaims({ storage, key: `${root}/ranges/${key}`, range, resource, form })
    const addresses = stock.pools.map((pool, i): Part => {
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

  /** Reads what all servers have given out by now. */
  async refresh(): Promise<void> {
    await Promise.all(this.#parts.map(({ claims }) => claims.refresh()))
  }

  /** All of it or nothing: false if another server was faster. */
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
   * Releases unused numbers, and takes the numbers of services. `catchUp`: the stock learns of
   * every service there is.
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

/** What could not be given back is found when the ranges are mended. */
const leftBehind = (): void => {}

const asAnswer = ({ what }: Part, error: unknown): unknown =>
  error instanceof RangeUnusable
    ? internalError(`failed to allocate a ${what}: ${error.message}`)
    : error
