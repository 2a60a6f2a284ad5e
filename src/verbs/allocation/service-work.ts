/**
 * What one write of a service takes of addresses and ports: once stored, the service holds it, and no longer what it had. What
 * cannot be had is told in the words of the release.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { servicesHaveClusterIps } from '#kinds/stored-fields.ts'
import { type FieldError, invalid } from '#api/field-error.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { internalError, invalidObject } from '#api/status-error.ts'
import type { Context } from '#kinds/kind.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import type { Reservation } from '#verbs/allocate.ts'
import type { ServiceClaims } from './service-claims.ts'
import { type Holding, holdingOf, isGoing, nothing, type ServiceStock } from './service-stock.ts'

const allocatesIp = change('errors of cluster IPs begin with: failed to allocate IP', { since: 22 })

/** A dry run shows the ports after this one, the end of the usual range. */
const portBeforeShown = 32768

const needsHealthPort = ({ spec }: KubeObject) =>
  spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
const hasNodePorts = ({ spec }: KubeObject) =>
  spec?.type === 'NodePort' || spec?.type === 'LoadBalancer'
const wantsNodePorts = ({ spec }: KubeObject) =>
  spec?.type === 'NodePort' ||
  (spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)

export class ServiceWork implements Reservation {
  readonly #stock: ServiceStock
  readonly #claims: ServiceClaims | undefined
  /** Where the store has other users. */
  readonly #catchUp: (() => Promise<void>) | undefined
  readonly #service: KubeObject
  readonly #had: Holding
  readonly #old: KubeObject | undefined
  readonly #takenAddresses: string[] = []
  readonly #takenPorts: number[] = []
  readonly #release: number
  /** A dry run takes no ports, and only shows some. */
  readonly #isDryRun: boolean
  /** The highest port this write has, or shows, so far. */
  #highestPort: number | undefined

  constructor(
    stock: ServiceStock,
    claims: ServiceClaims | undefined,
    service: KubeObject,
    old: KubeObject | undefined,
    { dryRun, release }: Context,
    catchUp: (() => Promise<void>) | undefined,
  ) {
    this.#stock = stock
    this.#claims = claims
    this.#catchUp = catchUp
    this.#service = service
    this.#old = old
    this.#had = old === undefined ? nothing : holdingOf(old)
    this.#release = release
    this.#isDryRun = dryRun === true
  }

  /** Whether nobody else was faster; otherwise nothing is taken any longer. */
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
      addresses: this.#had.addresses.filter((address) => !has.addresses.includes(address)),
      ports: this.#had.ports.filter((port) => !has.ports.includes(port)),
    })
  }

  /**
   * Others may have written the service since, or deleted it, and the picture may know that already: there only the picture
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
    // A store that did not answer may have stored the service: what it has stays claimed until the ranges are mended.
    if (this.#isDryRun || error instanceof StorageUnavailable) return undefined
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

  addresses(context: Context): void {
    const spec = this.#service.spec as Loose
    const had = this.#had.addresses
    if (spec.type === 'ExternalName') return
    if (spec.clusterIP === 'None' || spec.clusterIPs?.[0] === 'None') return
    const families: string[] = spec.ipFamilies ?? [this.#stock.pools[0].family]
    const wanted: string[] = spec.clusterIPs?.length ? [...spec.clusterIPs] : [spec.clusterIP ?? '']
    const given = families.map((family, i) => {
      const address = wanted[i] ?? ''
      return address !== '' && had.includes(address) ? address : this.#takeAddress(family, address)
    })
    spec.clusterIP = given[0]
    if (releaseOf(context.release).has(servicesHaveClusterIps)) spec.clusterIPs = given
  }

  #takeAddress(family: string, address: string): string {
    const pool = this.#stock.pools.find((one) => one.family === family)
    if (pool === undefined) throw internalError(`no address block for ${family}`)
    if (address === '') {
      const any = pool.takeAny()
      if (any === undefined) throw internalError('failed to allocate a serviceIP: range is full')
      this.#takenAddresses.push(any)
      return any
    }
    const outcome = pool.take(address)
    if (outcome === 'ok') {
      this.#takenAddresses.push(address)
      return address
    }
    const why =
      outcome === 'taken'
        ? 'provided IP is already allocated'
        : `provided IP is not in the valid range. The range of valid IPs is ${pool.block}`
    throw this.#invalid([this.#addressProblem(address, why)])
  }

  /** In the words of the release; before 1.20 there was one address and less to say of it. */
  #addressProblem(address: string, why: string): FieldError {
    if (!releaseOf(this.#release).has(servicesHaveClusterIps))
      return invalid('spec.clusterIP', address, why)
    const shown = asGo(goStrings(this.#service.spec?.clusterIPs ?? [address]))
    const words = releaseOf(this.#release).has(allocatesIp)
      ? `failed to allocate IP ${address}: ${why}`
      : `failed to allocated ip:${address} with error:${why}`
    return invalid('spec.clusterIPs', shown, words)
  }

  nodePorts(): void {
    const had = this.#had.ports
    const ports = (this.#service.spec?.ports ?? []) as Loose[]
    if (!hasNodePorts(this.#service)) return
    const byPort = new Map<number, number>()
    const askedByPort = new Map<number, number>()
    for (const { port, nodePort } of ports)
      if (nodePort && !askedByPort.has(port)) askedByPort.set(port, nodePort)
    for (const [i, port] of ports.entries()) this.#nodePort(port, i, askedByPort, had, byPort)
  }

  /** Two entries of one port with different protocols share their node port. */
  #nodePort(
    port: Loose,
    i: number,
    askedByPort: ReadonlyMap<number, number>,
    had: readonly number[],
    byPort: Map<number, number>,
  ): void {
    const asked = port.nodePort ?? 0
    if (asked === 0 && !wantsNodePorts(this.#service)) return
    const shared = byPort.get(port.port)
    if (shared !== undefined && (asked === 0 || asked === shared)) {
      port.nodePort = shared
      return
    }
    const wanted = asked || (askedByPort.get(port.port) ?? 0)
    if (wanted === 0) port.nodePort = this.#takeAnyPort()
    else if (had.includes(wanted) || this.#takenPorts.includes(wanted)) port.nodePort = wanted
    else {
      const problem = this.#takePort(wanted)
      if (problem !== undefined)
        throw this.#invalid([invalid(`spec.ports[${i}].nodePort`, wanted, problem)])
      port.nodePort = wanted
    }
    if (shared === undefined) byPort.set(port.port, port.nodePort)
  }

  healthPort(): void {
    const spec = this.#service.spec as Loose
    const old = this.#old
    const needed = old !== undefined && needsHealthPort(old)
    if (!needsHealthPort(this.#service)) {
      if (needed) delete spec.healthCheckNodePort
      return
    }
    const had = needed ? (old.spec?.healthCheckNodePort ?? 0) : 0
    const asked = spec.healthCheckNodePort ?? 0
    if (had !== 0 && asked !== had) {
      const detail =
        'cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update'
      throw this.#invalid([invalid('spec.healthCheckNodePort', asked, detail)])
    }
    if (had !== 0) return
    spec.healthCheckNodePort = asked === 0 ? this.#takeAnyPort('a HealthCheck NodePort 0') : asked
    const problem = asked === 0 ? undefined : this.#takePort(asked)
    if (problem === undefined) return
    throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`)
  }

  /** A type that has no use for what the old one had by default lets go of it, right or wrong: the checks have seen it. */
  trafficPolicy(): void {
    if (this.#old === undefined || !hasNodePorts(this.#old) || hasNodePorts(this.#service)) return
    delete (this.#service.spec as Loose).externalTrafficPolicy
  }

  refuse(errors: FieldError[]): void {
    if (errors.length > 0) throw this.#invalid(errors)
  }

  #takeAnyPort(what = 'a nodePort'): number {
    if (this.#isDryRun) return this.#showPort()
    const port = this.#stock.ports.takeAny()
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

  /** The port after the highest this write has so far, as the original shows it; whether it is free is nobody's concern. */
  #showPort(): number {
    const port = (this.#highestPort ?? portBeforeShown) + 1
    this.#seesPort(port)
    // After the last number there is comes the first, for the checks to refuse.
    return port | 0
  }

  /** Answers why it cannot be had, where that is so. */
  #takePort(port: number): string | undefined {
    const { ports } = this.#stock
    const outcome = ports.take(port)
    if (outcome === 'taken') return 'provided port is already allocated'
    if (outcome === 'ok') this.#hasPort(port)
    // A dry run only asks whether others have it, not whether it could be had.
    else if (this.#isDryRun) this.#seesPort(port)
    else {
      const range = `${ports.first}-${ports.last}`
      return `provided port is not in the valid range. The range of valid ports is ${range}`
    }
    return undefined
  }

  #invalid(errors: FieldError[]) {
    return invalidObject({ group: '', kind: 'Service' }, this.#service.metadata.name ?? '', errors)
  }
}
