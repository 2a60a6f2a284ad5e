/**
 * Cluster IPs as IPAddress objects. The name of the object is the address, so the server that
 * creates the object owns the address, whichever server on the store that is. Services that have no
 * object, and objects that have no service, are repaired.
 */
import { formatIp, parseIp } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { familyOf } from './address-pool.ts'
import { ServiceCidrs } from './service-cidrs.ts'
import { holdingOf } from './service-stock.ts'

/** How IPAddress objects are written. */
export interface AddressWriter {
  readonly client: Pick<ApiClient, 'create' | 'delete'>
  /** IPAddress, in the version that is served. */
  readonly resource: ResourceRef
  readonly nowMs: () => number
}

const familyLabel = 'ipaddress.kubernetes.io/ip-family'
const managerLabel = 'ipaddress.kubernetes.io/managed-by'
const manager = 'ipallocator.k8s.io'

/** A service is stored after its addresses; a request takes no longer than this. */
const requestMsMax = 60_000

const isThere = (error: unknown) => error instanceof ApiError && error.reason === 'AlreadyExists'
const isGone = (error: unknown) =>
  error instanceof ApiError && (error.code === 404 || error.code === 409)

export class AddressObjects {
  readonly cidrs = new ServiceCidrs()
  readonly #reader: ObjectReader
  readonly #writer: AddressWriter
  /** Addresses that have an object, as far as this server knows. */
  readonly #known = new Set<string>()

  constructor(reader: ObjectReader, writer: AddressWriter) {
    this.#reader = reader
    this.#writer = writer
  }

  async follow(): Promise<void> {
    const { group, plural } = this.#writer.resource
    await this.#reader.follow(group, 'servicecidrs', this.cidrs)
    await this.#reader.follow(group, plural, {
      changed: ({ metadata }) => this.#known.add(metadata.name ?? ''),
      deleted: ({ metadata }) => this.#known.delete(metadata.name ?? ''),
    })
  }

  isKnown(address: string): boolean {
    return this.#known.has(address)
  }

  /** False where another object has the address. */
  async create(address: string, service: KubeObject): Promise<boolean> {
    const name = canonical(address)
    this.#known.add(name)
    try {
      await this.#writer.client.create(this.#writer.resource, '', addressObject(name, service))
      return true
    } catch (error) {
      if (isThere(error)) return false
      this.#known.delete(name)
      throw error
    }
  }

  /** What cannot be deleted is found when the objects are repaired. */
  async delete(addresses: readonly string[]): Promise<void> {
    await Promise.all(
      addresses.map((address) => this.#delete(canonical(address)).catch(leftBehind)),
    )
  }

  async #delete(name: string, uid?: string): Promise<void> {
    await this.#writer.client.delete(this.#writer.resource, '', name, uid ? { uid } : {})
  }

  /** Every service gets the objects of its addresses; objects without a service are deleted. */
  async repair(): Promise<void> {
    const { group, plural } = this.#writer.resource
    // Objects are written before services: those that are read first are not younger.
    const objects = await this.#reader.list(group, plural)
    const services = await this.#reader.list('', 'services')
    const found = new Map(objects.map((object) => [object.metadata.name ?? '', object]))
    const owners = new Map(services.map((service) => [ownerKey(service.metadata), service]))
    for (const service of services) {
      for (const address of holdingOf(service).addresses) {
        if (this.cidrs.has(address))
          await this.#repairAddress(service, canonical(address), found, owners)
      }
    }
    for (const object of objects) {
      if (!this.#isLeftBehind(object, owners)) continue
      await this.#delete(object.metadata.name ?? '', object.metadata.uid).catch(unlessGone)
    }
  }

  async #repairAddress(
    service: KubeObject,
    name: string,
    found: ReadonlyMap<string, KubeObject>,
    owners: ReadonlyMap<string, KubeObject>,
  ): Promise<void> {
    const object = found.get(name)
    if (object !== undefined) {
      if (isObjectOf(object, service) && hasLabels(object)) return
      const owner = ownerOf(object, owners)
      // Two services with one address: one of them must be created anew by its owner.
      const isOthers = owner !== undefined && owner !== service && hasAddress(owner, name)
      if (isOthers) return
      await this.#delete(name, object.metadata.uid).catch(unlessGone)
    }
    await this.create(name, service)
  }

  #isLeftBehind(object: KubeObject, owners: ReadonlyMap<string, KubeObject>): boolean {
    const { name = '', labels, creationTimestamp } = object.metadata
    if (labels?.[managerLabel] !== manager) return false
    if (!refersToService(object)) return true
    const owner = ownerOf(object, owners)
    if (owner !== undefined && hasAddress(owner, name)) return false
    return this.#writer.nowMs() - Date.parse(creationTimestamp ?? '') > requestMsMax
  }
}

const leftBehind = (): void => {}

function unlessGone(error: unknown): void {
  if (!isGone(error)) throw error
}

/** An address as the name of its object has it. */
function canonical(address: string): string {
  const bytes = parseIp(address)
  return bytes === undefined ? address : formatIp(bytes)
}

const addressObject = (name: string, { metadata }: KubeObject): KubeObject => ({
  metadata: { name, labels: { [familyLabel]: familyOf(name), [managerLabel]: manager } },
  spec: {
    parentRef: { resource: 'services', namespace: metadata.namespace, name: metadata.name },
  },
})

const hasAddress = (service: KubeObject, name: string): boolean =>
  holdingOf(service).addresses.some((address) => canonical(address) === name)

const hasLabels = ({ metadata: { name = '', labels } }: KubeObject): boolean =>
  labels?.[managerLabel] === manager && labels[familyLabel] === familyOf(name)

const parentOf = ({ spec }: KubeObject): Loose => spec?.parentRef ?? {}

function refersToService(object: KubeObject): boolean {
  const { group = '', resource } = parentOf(object)
  return group === '' && resource === 'services'
}

const ownerKey = ({ namespace = '', name = '' }: Loose): string => `${namespace}/${name}`

const ownerOf = (object: KubeObject, owners: ReadonlyMap<string, KubeObject>) =>
  refersToService(object) ? owners.get(ownerKey(parentOf(object))) : undefined

const isObjectOf = (object: KubeObject, { metadata }: KubeObject): boolean =>
  refersToService(object) && ownerKey(parentOf(object)) === ownerKey(metadata)
