/**
 * The addresses and ports that one write of a service allocates. When the write is stored, the
 * service holds them and releases its previous ones. The caller decides which ones the service
 * needs.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { internalError } from '#api/status-error.ts'
import type { Context } from '#kinds/kind.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import type { Reservation } from '#verbs/allocate.ts'
import type { AddressObjects } from './address-objects.ts'
import type { AddressPool, Family } from './address-pool.ts'
import type { ServiceClaims } from './service-claims.ts'
import {
  type Holding,
  holdingOf,
  isBeingDeleted,
  nothing,
  type ServiceStock,
} from './service-stock.ts'

/** A dry run returns ports after this one, the end of the default range. */
const portBeforeShown = 32768

export interface TakingOptions {
  readonly stock: ServiceStock
  /** Set if other servers share the store. */
  readonly claims: ServiceClaims | undefined
  /** Set if addresses are IPAddress objects. */
  readonly objects?: AddressObjects | undefined
  readonly service: KubeObject
  readonly old: KubeObject | undefined
  readonly context: Pick<Context, 'dryRun'>
  /** Waits until the watch cache has seen the write. Set if other servers share the store. */
  readonly catchUp: (() => Promise<void>) | undefined
}

export class ServiceTaking implements Reservation {
  readonly #stock: ServiceStock
  readonly #claims: ServiceClaims | undefined
  readonly #objects: AddressObjects | undefined
  readonly #catchUp: (() => Promise<void>) | undefined
  readonly #service: KubeObject
  readonly had: Holding
  readonly #takenAddresses: string[] = []
  readonly #takenPorts: number[] = []
  /** The addresses whose objects this write created. */
  readonly #created: string[] = []
  /** A dry run allocates no ports; it only returns examples. */
  readonly isDryRun: boolean
  /** The highest port that this write has allocated or shown. */
  #highestPort: number | undefined

  constructor({ stock, claims, objects, service, old, context, catchUp }: TakingOptions) {
    this.#stock = stock
    this.#claims = claims
    this.#objects = objects
    this.#catchUp = catchUp
    this.#service = service
    this.had = old === undefined ? nothing : holdingOf(old)
    this.isDryRun = context.dryRun === true
  }

  /** Returns false, and releases everything, if another server claimed one of them first. */
  async claim(): Promise<boolean> {
    try {
      if (await this.#claims?.claim(this.#taken())) return true
    } catch (error) {
      await this.undo()
      throw error
    }
    await this.undo()
    return false
  }

  keep(): Promise<void> | undefined {
    const has = holdingOf(this.#service)
    const taken = this.#taken()
    this.#handOver()
    const addresses = this.had.addresses.filter((address) => !has.addresses.includes(address))
    const deleted = addresses.length > 0 ? this.#objects?.delete(addresses) : undefined
    // A service that is being deleted holds nothing.
    if (isBeingDeleted(this.#service)) return afterBoth(deleted, this.#claims?.release(taken))
    const ports = this.had.ports.filter((port) => !has.ports.includes(port))
    return afterBoth(deleted, this.#claims?.release({ addresses, ports }))
  }

  /**
   * Releases this write's own allocations once the watch cache has seen the write. Another writer
   * may already have changed the service, so only the watch cache knows what it holds.
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

  releaseMemory(error?: unknown): Promise<void> | undefined {
    const taken = this.#taken()
    this.forget()
    // If the store did not respond, it may have stored the service. The numbers stay claimed until
    // the ranges are repaired.
    if (this.isDryRun || error instanceof StorageUnavailable) return undefined
    return afterBoth(this.#deleteCreated(), this.#claims?.release(taken))
  }

  /** The service was not stored, so delete its address objects too. */
  async undo(): Promise<void> {
    this.forget()
    await this.#deleteCreated()
  }

  #deleteCreated(): Promise<void> | undefined {
    const created = this.#created.splice(0)
    return created.length > 0 ? this.#objects?.delete(created) : undefined
  }

  /** Releases the allocations of this write in this server; claims in the store remain. */
  forget(): void {
    for (const address of this.#takenAddresses.splice(0))
      this.#stock.poolOf(address)?.releaseMemory(address)
    for (const port of this.#takenPorts.splice(0)) this.#stock.ports.releaseMemory(port)
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
   * Allocates any free address; undefined if none is left. `upperFirst` leaves the lower ones for
   * clients that specify an address.
   */
  takeAnyAddress(family: string, upperFirst = false): string | undefined {
    const any = this.poolOf(family).takeAny(upperFirst)
    if (any !== undefined) this.#takenAddresses.push(any)
    return any
  }

  /** Allocates an address; returns the reason if that fails. */
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

  /** Creates the object of an address; false where another has it. */
  async takeObject(address: string, service: KubeObject): Promise<boolean> {
    if (!(await this.#objects?.create(address, service))) return false
    this.#created.push(address)
    return true
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
   * The port after this write's highest one. kube-apiserver shows it in a dry run, even if it is
   * allocated.
   */
  #showPort(): number {
    const port = (this.#highestPort ?? portBeforeShown) + 1
    this.#seesPort(port)
    // The addition must wrap after 2^31 - 1, so that validation rejects the result.
    return port | 0
  }

  /** Allocates a port; returns the reason if that fails. */
  takePort(port: number): string | undefined {
    const { ports } = this.#stock
    const outcome = ports.take(port)
    if (outcome === 'taken') return 'provided port is already allocated'
    if (outcome === 'ok') this.#hasPort(port)
    // A dry run only checks whether another service has the port, not whether it is in the range.
    else if (this.isDryRun) this.#seesPort(port)
    else {
      const range = `${ports.first}-${ports.last}`
      return `provided port is not in the valid range. The range of valid ports is ${range}`
    }
    return undefined
  }
}

async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  await Promise.all([one, other])
}

const afterBoth = (one: Promise<void> | undefined, other: Promise<void> | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : both(one, other)
