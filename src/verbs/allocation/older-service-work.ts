/**
 * Determines the addresses and ports that a service needs in releases up to 1.22. Errors have the
 * messages of the release.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { internalError, invalidObject } from '#api/status-error.ts'
import type { Context } from '#kinds/kind.ts'
import { servicesHaveClusterIps } from '#kinds/stored-fields.ts'
import type { ServiceTaking } from './service-taking.ts'

const allocatesIp = change('errors of cluster IPs begin with: failed to allocate IP', { since: 22 })

const needsHealthPort = ({ spec }: KubeObject) =>
  spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
const hasNodePorts = ({ spec }: KubeObject) =>
  spec?.type === 'NodePort' || spec?.type === 'LoadBalancer'
const wantsNodePorts = ({ spec }: KubeObject) =>
  spec?.type === 'NodePort' ||
  (spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)

export class OlderServiceWork {
  readonly #taking: ServiceTaking
  readonly #service: KubeObject
  readonly #old: KubeObject | undefined
  readonly #release: number

  constructor(
    taking: ServiceTaking,
    service: KubeObject,
    old: KubeObject | undefined,
    { release }: Pick<Context, 'release'>,
  ) {
    this.#taking = taking
    this.#service = service
    this.#old = old
    this.#release = release
  }

  addresses(): void {
    const spec = this.#service.spec as Loose
    const had = this.#taking.had.addresses
    if (spec.type === 'ExternalName') return
    if (spec.clusterIP === 'None' || spec.clusterIPs?.[0] === 'None') return
    const families: string[] = spec.ipFamilies ?? [this.#taking.families[0]]
    const wanted: string[] = spec.clusterIPs?.length ? [...spec.clusterIPs] : [spec.clusterIP ?? '']
    const given = families.map((family, i) => {
      const address = wanted[i] ?? ''
      return address !== '' && had.includes(address) ? address : this.#takeAddress(family, address)
    })
    spec.clusterIP = given[0]
    if (releaseOf(this.#release).has(servicesHaveClusterIps)) spec.clusterIPs = given
  }

  #takeAddress(family: string, address: string): string {
    if (address === '') {
      const any = this.#taking.takeAnyAddress(family)
      if (any === undefined) throw internalError('failed to allocate a serviceIP: range is full')
      return any
    }
    const why = this.#taking.takeAddress(family, address)
    if (why === undefined) return address
    throw this.#invalid([this.#addressProblem(address, why)])
  }

  /** The error has the message of the release; before 1.20 a service had one address. */
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
    const had = this.#taking.had.ports
    const ports = (this.#service.spec?.ports ?? []) as Loose[]
    if (!hasNodePorts(this.#service)) return
    const byPort = new Map<number, number>()
    const requestedByPort = new Map<number, number>()
    for (const { port, nodePort } of ports)
      if (nodePort && !requestedByPort.has(port)) requestedByPort.set(port, nodePort)
    for (const [i, port] of ports.entries()) this.#nodePort(port, i, requestedByPort, had, byPort)
  }

  /** Two entries of one port with different protocols share their node port. */
  #nodePort(
    port: Loose,
    i: number,
    requestedByPort: ReadonlyMap<number, number>,
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
    const wanted = asked || (requestedByPort.get(port.port) ?? 0)
    if (wanted === 0) port.nodePort = this.#taking.takeAnyPort()
    else if (had.includes(wanted) || this.#taking.hasTaken(wanted)) port.nodePort = wanted
    else {
      const problem = this.#taking.takePort(wanted)
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
    spec.healthCheckNodePort =
      asked === 0 ? this.#taking.takeAnyPort('a HealthCheck NodePort 0') : asked
    const problem = asked === 0 ? undefined : this.#taking.takePort(asked)
    if (problem === undefined) return
    throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`)
  }

  /**
   * If the new type does not use the old type's defaults, they are dropped; validation has already
   * seen them.
   */
  trafficPolicy(): void {
    if (this.#old === undefined || !hasNodePorts(this.#old) || hasNodePorts(this.#service)) return
    delete (this.#service.spec as Loose).externalTrafficPolicy
  }

  refuse(errors: FieldError[]): void {
    if (errors.length > 0) throw this.#invalid(errors)
  }

  #invalid(errors: FieldError[]) {
    return invalidObject({ group: '', kind: 'Service' }, this.#service.metadata.name ?? '', errors)
  }
}
