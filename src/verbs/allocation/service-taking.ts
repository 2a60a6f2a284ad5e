/**
 * What one write of a service takes of addresses and ports: once stored, the service holds it,
 * and no longer what it had.
 * It takes what it is called for; which addresses and ports a service needs is decided elsewhere.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { internalError } from '#api/status-error.ts'
import type { Context } from '#kinds/kind.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import type { Reservation } from '#verbs/allocate.ts'
import type { AddressPool, Family } from './address-pool.ts'
import type { ServiceClaims } from './service-claims.ts'
import { type Holding, holdingOf, isGoing, nothing, type ServiceStock } from './service-stock.ts'

/** A dry run shows the ports after this one, the end of the usual range. */
const portBeforeShown = 32768

export interface TakingOptions {
  readonly stock: ServiceStock
  /** Where the store has other users. */
  readonly claims: ServiceClaims | undefined
  readonly service: KubeObject
  readonly old: KubeObject | undefined
  readonly context: Pick<Context, 'dryRun'>
  /** Where the store has other users. */
  readonly catchUp: (() => Promise<void>) | undefined
}

export class ServiceTaking implements Reservation {
  readonly #stock: ServiceStock
  readonly #claims: ServiceClaims | undefined
  readonly #catchUp: (() => Promise<void>) | undefined
  readonly #service: KubeObject
  readonly had: Holding
  readonly #takenAddresses: string[] = []
  readonly #takenPorts: number[] = []
  /** A dry run takes no ports, and only shows some. */
  readonly isDryRun: boolean
  /** The highest port this write has, or shows, so far. */
  #highestPort: number | undefined

  constructor({ stock, claims, service, old, context, catchUp }: TakingOptions) {
    this.#stock = stock
    this.#claims = claims
    this.#catchUp = catchUp
    this.#service = service
    this.had = old === undefined ? nothing : holdingOf(old)
    this.isDryRun = context.dryRun === true
  }

  /** False if another server was faster; then nothing is taken any longer. */
  async claim(): Promise<boolean> {
    try {
      if (await this.#claims?.claim(this.#taken())) return true
    } catch (error) {
      this.forget()
      throw error
    }
    this.forget()
    return false
  }

  keep(): Promise<void> | undefined {
    const has = holdingOf(this.#service)
    const taken = this.#taken()
    this.#handOver()
    // It holds nothing, whatever it was given.
    if (isGoing(this.#service)) return this.#claims?.release(taken)
    return this.#claims?.release({
      addresses: this.had.addresses.filter((address) => !has.addresses.includes(address)),
      ports: this.had.ports.filter((port) => !has.ports.includes(port)),
    })
  }

  /**
   * Others may have written the service since, or deleted it, and the picture may know that
   * already: there only the picture
   * says what a service has, and until it knows of this write too, what was taken stays taken.
   */
  #handOver(): void {
    const forget = () => this.forget()
    if (this.#catchUp !== undefined) {
      this.#catchUp().then(forget, forget)
      return
    }
    this.#stock.hold(this.#service)
    forget()
  }

  giveBack(error?: unknown): Promise<void> | undefined {
    const taken = this.#taken()
    this.forget()
    // A store that did not answer may have stored the service: what it has stays claimed until
    // the ranges are mended.
    if (this.isDryRun || error instanceof StorageUnavailable) return undefined
    return this.#claims?.release(taken)
  }

  /** This write wants nothing any longer, whatever is claimed. */
  forget(): void {
    for (const address of this.#takenAddresses.splice(0))
      this.#stock.poolOf(address)?.giveBack(address)
    for (const port of this.#takenPorts.splice(0)) this.#stock.ports.giveBack(port)
  }

  #taken(): Holding {
    return { addresses: [...this.#takenAddresses], ports: [...this.#takenPorts] }
  }

  get families(): Family[] {
    return this.#stock.pools.map(({ family }) => family)
  }

  poolOf(family: string): AddressPool {
    const pool = this.#stock.pools.find((one) => one.family === family)
    if (pool === undefined) throw internalError(`no address block for ${family}`)
    return pool
  }

  /**
   * Any address; undefined where none is left. `upperFirst`: the lower ones are kept for clients
   * that name them.
   */
  takeAnyAddress(family: string, upperFirst = false): string | undefined {
    const any = this.poolOf(family).takeAny(upperFirst)
    if (any !== undefined) this.#takenAddresses.push(any)
    return any
  }

  /** Answers why it cannot be had, where that is so. */
  takeAddress(family: string, address: string): string | undefined {
    const pool = this.poolOf(family)
    const outcome = pool.take(address)
    if (outcome === 'taken') return 'provided IP is already allocated'
    if (outcome === 'outside') {
      return `provided IP is not in the valid range. The range of valid IPs is ${pool.block}`
    }
    this.#takenAddresses.push(address)
    return undefined
  }

  hasTaken(port: number): boolean {
    return this.#takenPorts.includes(port)
  }

  takeAnyPort(what = 'a nodePort', upperFirst = false): number {
    if (this.isDryRun) return this.#showPort()
    const port = this.#stock.ports.takeAny(upperFirst ? this.#stock.portsKept : 0)
    if (port === undefined) throw internalError(`failed to allocate ${what}: range is full`)
    this.#hasPort(port)
    return port
  }

  #hasPort(port: number): void {
    this.#takenPorts.push(port)
    this.#seesPort(port)
  }

  #seesPort(port: number): void {
    this.#highestPort = Math.max(this.#highestPort ?? port, port)
  }

  /**
   * The port after the highest this write has so far, as kube-apiserver shows it; it may be taken.
   */
  #showPort(): number {
    const port = (this.#highestPort ?? portBeforeShown) + 1
    this.#seesPort(port)
    // After the last number there is comes the first, for the checks to refuse.
    return port | 0
  }

  /** Answers why it cannot be had, where that is so. */
  takePort(port: number): string | undefined {
    const { ports } = this.#stock
    const outcome = ports.take(port)
    if (outcome === 'taken') return 'provided port is already allocated'
    if (outcome === 'ok') this.#hasPort(port)
    // A dry run only checks whether others have it, not whether it could be allocated.
    else if (this.isDryRun) this.#seesPort(port)
    else {
      const range = `${ports.first}-${ports.last}`
      return `provided port is not in the valid range. The range of valid ports is ${range}`
    }
    return undefined
  }
}
