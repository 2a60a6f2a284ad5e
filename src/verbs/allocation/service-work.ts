/** Determines the addresses and ports that a new or changed service needs. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { inWordsOf } from '#api/release-words.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { ApiError, internalError, invalidObject } from '#api/status-error.ts'
import {
  followClusterIp,
  keepAllocated,
  nameAllAddresses,
} from '#kinds/core/service/kept-allocations.ts'
import { goAddresses } from '#kinds/core/service/service-addresses.ts'
import {
  isExternalName,
  isLoadBalancer,
  needsHealthCheckPort,
  needsNodePort,
  specOf,
} from '#kinds/core/service/service-shape.ts'
import type { Context } from '#kinds/kind.ts'
import type { AddressSource } from './address-source.ts'
import type { Family } from './address-pool.ts'
import { keepsPreference, settleFamilies } from './service-families.ts'
import type { ServiceTaking } from './service-taking.ts'

const keepsPortsWanted = change(
  'an update keeps node ports of services that want node ports, not of others',
  { since: 30 },
)
const namesTheService = change('errors of full address ranges name the service', { since: 36 })
const keepsLowPorts = change('node ports are given out from the upper part of the range', {
  since: 28,
})

const wantsNodePorts = (service: KubeObject): boolean =>
  needsNodePort(service) &&
  !(isLoadBalancer(service) && specOf(service).allocateLoadBalancerNodePorts === false)

export class ServiceWork {
  readonly #taking: ServiceTaking
  readonly #source: AddressSource
  readonly #service: KubeObject
  readonly #old: KubeObject | undefined
  readonly #context: Context

  constructor(
    taking: ServiceTaking,
    source: AddressSource,
    service: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ) {
    this.#taking = taking
    this.#source = source
    this.#service = service
    this.#old = old
    this.#context = context
  }

  async run(): Promise<void> {
    const [service, old] = [this.#service, this.#old]
    service.spec ??= {}
    this.#keepOld()
    this.#refuse(settleFamilies(service, old, this.#source.families, this.#context))
    if (old === undefined) await this.#newAddresses()
    else if (!keepsPreference(service, old)) await this.#changedAddresses(old)
    if (needsNodePort(service)) {
      if (old === undefined) this.#newNodePorts()
      else this.#changedNodePorts(this.#taking.had.ports)
    }
    const hadHealthPort = old !== undefined && needsHealthCheckPort(old)
    if (needsHealthCheckPort(service) && !hadHealthPort) this.#healthPort()
  }

  #keepOld(): void {
    const [service, old] = [this.#service, this.#old]
    if (old === undefined) {
      nameAllAddresses(service.spec)
      return
    }
    const isNarrow = releaseOf(this.#context.release).has(keepsPortsWanted)
    keepAllocated(service, old, isNarrow ? wantsNodePorts : needsNodePort)
    followClusterIp(service.spec, specOf(old))
  }

  async #newAddresses(): Promise<void> {
    const spec = specOf(this.#service)
    if (isExternalName(this.#service) || spec.clusterIPs?.[0] === 'None') return
    const asked: string[] = spec.clusterIPs ?? []
    const given: string[] = []
    for (const [i, family] of (spec.ipFamilies as Family[]).entries()) {
      given.push(await this.#takeAddress(family, asked[i] ?? '', withBlanks(spec)))
    }
    spec.clusterIPs = [...given, ...asked.slice(given.length)]
    spec.clusterIP = given[0]
  }

  async #changedAddresses(old: KubeObject): Promise<void> {
    const [spec, then] = [specOf(this.#service), specOf(old)]
    if (isExternalName(old)) return this.#newAddresses()
    if (then.clusterIPs?.[0] === 'None' || isExternalName(this.#service)) return
    const isUpgrade = then.ipFamilies?.length === 1 && spec.ipFamilies?.length === 2
    if (!isUpgrade) return
    const asked: string = spec.clusterIPs[1] ?? ''
    const second = await this.#takeAddress(spec.ipFamilies[1], asked, withBlanks(spec))
    spec.clusterIPs = [spec.clusterIPs[0], second]
  }

  async #takeAddress(family: Family, address: string, shown: Loose): Promise<string> {
    const wrong = (detail: string) => this.#invalid([invalidAddresses(shown, detail)])
    if (address !== '') {
      const why = await this.#source.take(family, address)
      if (why === undefined) return address
      throw wrong(`failed to allocate IP ${address}: ${why}`)
    }
    const any = await this.#source.takeAny(family)
    if ('address' in any) return any.address
    if (any.why !== 'range is full') throw wrong(`failed to allocate IP: ${any.why}`)
    const named = releaseOf(this.#context.release).has(namesTheService)
    const whom = named ? ` for Service ${goQuote(this.#service.metadata.name ?? '')}` : ''
    throw internalError(`failed to allocate a serviceIP${whom}: range is full`)
  }

  #anyPort(what?: string): number {
    return this.#taking.takeAnyPort(what, releaseOf(this.#context.release).has(keepsLowPorts))
  }

  /** Entries of one port with different protocols share their node port. */
  #newNodePorts(): void {
    const ports: Loose[] = specOf(this.#service).ports ?? []
    const wants = wantsNodePorts(this.#service)
    const byPort = new Map<number, number>()
    for (const [i, port] of ports.entries()) {
      if (!port.nodePort && !wants) continue
      const shared = byPort.get(port.port)
      if (shared === undefined) {
        const asked = ports.find((one) => one.port === port.port && one.nodePort)?.nodePort
        if (asked) this.#takePort(asked, i)
        port.nodePort = asked ?? this.#anyPort()
        byPort.set(port.port, port.nodePort)
      } else if (!port.nodePort) port.nodePort = shared
      else if (port.nodePort !== shared) this.#takePort(port.nodePort, i)
    }
  }

  #changedNodePorts(had: readonly number[]): void {
    const ports: Loose[] = specOf(this.#service).ports ?? []
    const wants = wantsNodePorts(this.#service)
    const seen = new Set<string>()
    for (const [i, port] of ports.entries()) {
      if (!port.nodePort && !wants) continue
      const isNew = port.nodePort && !had.includes(port.nodePort)
      if (!port.nodePort) port.nodePort = this.#anyPort()
      else if (isNew && !this.#taking.hasTaken(port.nodePort)) this.#takePort(port.nodePort, i)
      const key = `{${port.protocol} ${port.nodePort}}`
      if (seen.has(key)) throw new ApiError(500, '', `duplicate nodePort: ${key}`)
      seen.add(key)
    }
  }

  #takePort(port: number, i: number): void {
    const problem = this.#taking.takePort(port)
    if (problem !== undefined) {
      throw this.#invalid([invalid(`spec.ports[${i}].nodePort`, port, problem)])
    }
  }

  #healthPort(): void {
    const spec = specOf(this.#service)
    const asked: number = spec.healthCheckNodePort ?? 0
    if (asked === 0) {
      spec.healthCheckNodePort = this.#anyPort('a HealthCheck NodePort 0')
      return
    }
    const problem = this.#taking.takePort(asked)
    if (problem === undefined) return
    throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`)
  }

  #refuse(errors: FieldError[]): void {
    if (errors.length > 0) throw this.#invalid(errors)
  }

  #invalid(errors: FieldError[]) {
    const named = { group: '', kind: 'Service' }
    const { name = '' } = this.#service.metadata
    return invalidObject(named, name, inWordsOf(errors, this.#context.release))
  }
}

const invalidAddresses = (shown: Loose, detail: string): FieldError =>
  invalid('spec.clusterIPs', goAddresses(shown), detail)

/** Addresses that are still to be allocated are empty strings, which error messages show. */
function withBlanks({ clusterIPs, ipFamilies }: Loose): Loose {
  const missing = Math.max(0, ipFamilies.length - (clusterIPs?.length ?? 0))
  return { clusterIPs: [...(clusterIPs ?? []), ...Array.from({ length: missing }, () => '')] }
}
