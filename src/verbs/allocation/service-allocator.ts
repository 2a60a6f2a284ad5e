/**
 * Cluster IPs and node ports of services: given out once, released with their service. What is taken is learned from the
 * services themselves, of this server and of every other on the store, so nothing has to be repaired after a crash.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { internalError, invalidObject } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Allocators, Reservation } from '#verbs/allocate.ts'
import { settleFamilies } from './service-families.ts'
import { addressesOf, portsOf, type ServiceRanges, ServiceStock } from './service-stock.ts'

/** Loaded with the first service. */
const loadExternalTraffic = loadLater<
  typeof import('#kinds/behaviour/services/external-traffic.ts')
>(import.meta.url, '#kinds/behaviour/services/external-traffic')

export function serviceAllocators(
  ranges: ServiceRanges,
  reader: ObjectReader,
  random: () => number,
): Allocators {
  return new ServiceAllocators(ranges, reader, random)
}

/** A dry run shows the ports after this one, the end of the usual range. */
const portBeforeShown = 32768

class ServiceAllocators implements Allocators {
  readonly #stock: ServiceStock
  readonly #reader: ObjectReader
  #following: Promise<unknown> | undefined

  constructor(ranges: ServiceRanges, reader: ObjectReader, random: () => number) {
    this.#stock = new ServiceStock(ranges, random)
    this.#reader = reader
  }

  async reserve(
    _kind: Kind,
    next: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Promise<Reservation> {
    this.#following ??= this.#follow()
    await this.#following
    if (old === undefined) await this.#catchUp(next)
    const work = new Work(this.#stock, next, context)
    try {
      if (context.feature('IPv6DualStack'))
        settleFamilies(
          next,
          this.#stock.pools.map(({ family }) => family),
        )
      if (!context.dryRun) work.addresses(old, context)
      work.nodePorts(old)
      work.healthPort(old)
      work.refuse(loadExternalTraffic().checkExternalTraffic(next))
    } catch (error) {
      work.giveBack()
      throw error
    }
    return work
  }

  release(_kind: Kind, service: KubeObject): void {
    this.#stock.drop(service)
  }

  async #follow(): Promise<void> {
    try {
      await this.#reader.follow('', 'services', {
        changed: (service) => this.#stock.hold(service),
        deleted: (service) => this.#stock.drop(service),
      })
    } catch (error) {
      // The store may be back when the next service is written.
      this.#following = undefined
      throw error
    }
  }

  /** Asked for what is not there, the reader first learns of everything that any server has stored. */
  async #catchUp({ metadata }: KubeObject): Promise<void> {
    await this.#reader.get('', 'services', metadata.namespace ?? '', metadata.name ?? '')
  }
}

const needsHealthPort = ({ spec }: KubeObject) =>
  spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
const hasNodePorts = ({ spec }: KubeObject) =>
  spec?.type === 'NodePort' || spec?.type === 'LoadBalancer'
const wantsNodePorts = ({ spec }: KubeObject) =>
  spec?.type === 'NodePort' ||
  (spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)

/** What one write takes: once stored, the service holds it, and no longer what it had. */
class Work implements Reservation {
  readonly #stock: ServiceStock
  readonly #service: KubeObject
  readonly #takenAddresses: string[] = []
  readonly #takenPorts: number[] = []
  readonly #release: number
  /** Ports only shown: a dry run takes none. */
  readonly #shownPorts: number[] | undefined

  constructor(stock: ServiceStock, service: KubeObject, { dryRun, release }: Context) {
    this.#stock = stock
    this.#service = service
    this.#release = release
    if (dryRun) this.#shownPorts = []
  }

  keep(): void {
    this.#stock.hold(this.#service)
    this.giveBack()
  }

  giveBack(): void {
    for (const address of this.#takenAddresses.splice(0))
      this.#stock.poolOf(address)?.giveBack(address)
    for (const port of this.#takenPorts.splice(0)) this.#stock.ports.giveBack(port)
  }

  addresses(old: KubeObject | undefined, context: Context): void {
    const spec = this.#service.spec as Loose
    const had = old === undefined ? [] : addressesOf(old)
    if (spec.type === 'ExternalName') return
    if (spec.clusterIP === 'None' || spec.clusterIPs?.[0] === 'None') return
    const families: string[] = spec.ipFamilies ?? [this.#stock.pools[0].family]
    const wanted: string[] = spec.clusterIPs?.length ? [...spec.clusterIPs] : [spec.clusterIP ?? '']
    const given = families.map((family, i) => {
      const address = wanted[i] ?? ''
      return address !== '' && had.includes(address) ? address : this.#takeAddress(family, address)
    })
    spec.clusterIP = given[0]
    if (context.release >= 20) spec.clusterIPs = given
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
    if (this.#release < 20) return invalid('spec.clusterIP', address, why)
    const shown = asGo(goStrings(this.#service.spec?.clusterIPs ?? [address]))
    const words =
      this.#release < 22
        ? `failed to allocated ip:${address} with error:${why}`
        : `failed to allocate IP ${address}: ${why}`
    return invalid('spec.clusterIPs', shown, words)
  }

  nodePorts(old: KubeObject | undefined): void {
    const had = old === undefined ? [] : portsOf(old)
    const ports = (this.#service.spec?.ports ?? []) as Loose[]
    if (!hasNodePorts(this.#service)) return
    const byPort = new Map<number, number>()
    for (const [i, port] of ports.entries()) this.#nodePort(port, i, ports, had, byPort)
  }

  /** Two entries of one port with different protocols share their node port. */
  #nodePort(
    port: Loose,
    i: number,
    ports: Loose[],
    had: number[],
    byPort: Map<number, number>,
  ): void {
    const asked = port.nodePort ?? 0
    if (asked === 0 && !wantsNodePorts(this.#service)) return
    const shared = byPort.get(port.port)
    if (shared !== undefined && (asked === 0 || asked === shared)) {
      port.nodePort = shared
      return
    }
    const wanted =
      asked || (ports.find((one) => one.port === port.port && one.nodePort)?.nodePort ?? 0)
    if (wanted === 0) port.nodePort = this.#takeAnyPort()
    else if (had.includes(wanted) || this.#takenPorts.includes(wanted)) port.nodePort = wanted
    else port.nodePort = this.#takePort(wanted, `spec.ports[${i}].nodePort`)
    if (shared === undefined) byPort.set(port.port, port.nodePort)
  }

  healthPort(old: KubeObject | undefined): void {
    const spec = this.#service.spec as Loose
    const had = old !== undefined && needsHealthPort(old) ? (old.spec?.healthCheckNodePort ?? 0) : 0
    if (!needsHealthPort(this.#service)) {
      if (had !== 0) delete spec.healthCheckNodePort
      return
    }
    const asked = spec.healthCheckNodePort ?? 0
    if (had !== 0 && asked !== had) {
      const detail =
        'cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update'
      throw this.#invalid([invalid('spec.healthCheckNodePort', asked, detail)])
    }
    if (had !== 0) return
    spec.healthCheckNodePort =
      asked === 0 ? this.#takeAnyPort() : this.#takePort(asked, 'spec.healthCheckNodePort')
  }

  refuse(errors: FieldError[]): void {
    if (errors.length > 0) throw this.#invalid(errors)
  }

  #takeAnyPort(): number {
    if (this.#shownPorts !== undefined) return this.#showPort(this.#shownPorts)
    const port = this.#stock.ports.takeAny()
    if (port === undefined) throw internalError('failed to allocate a nodePort: range is full')
    this.#takenPorts.push(port)
    return port
  }

  /** The port after the highest this write has so far, as the original shows it; whether it is free is nobody's concern. */
  #showPort(shown: number[]): number {
    const before = [...this.#takenPorts, ...shown]
    const port = (before.length === 0 ? portBeforeShown : Math.max(...before)) + 1
    shown.push(port)
    return port
  }

  #takePort(port: number, field: string): number {
    const outcome = this.#stock.ports.take(port)
    if (outcome === 'ok') {
      this.#takenPorts.push(port)
      return port
    }
    // A dry run only asks whether others have it, not whether it could be had.
    if (outcome !== 'taken' && this.#shownPorts !== undefined) {
      this.#shownPorts.push(port)
      return port
    }
    const why =
      outcome === 'taken'
        ? 'provided port is already allocated'
        : `provided port is not in the valid range. The range of valid ports is ${this.#stock.ports.first}-${this.#stock.ports.last}`
    throw this.#invalid([invalid(field, port, why)])
  }

  #invalid(errors: FieldError[]) {
    return invalidObject({ group: '', kind: 'Service' }, this.#service.metadata.name ?? '', errors)
  }
}
