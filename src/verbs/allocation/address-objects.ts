/**
 * Stores cluster IPs as IPAddress objects. The name of the object is the address, so of all servers
 * on the store only one can create it and use the address. A repair creates missing objects for
 * services and deletes objects without a service.
 */
import { formatIp, parseIp } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { familyOf } from './address-pool.ts'
import { ServiceCidrs } from './service-cidrs.ts'
import { holdingOf } from './service-stock.ts'

/** Writes IPAddress objects. */
export interface AddressWriter {
  readonly client: Pick<ApiClient, 'create' | 'delete'>
  /** The kind IPAddress in the served version. */
  readonly resource: ResourceRef
  readonly nowMs: () => number
}

const familyLabel = 'ipaddress.kubernetes.io/ip-family'
const managerLabel = 'ipaddress.kubernetes.io/managed-by'
const manager = 'ipallocator.k8s.io'

/**
 * Objects younger than this may lack a service, because a service is stored after its addresses. No
 * request takes longer.
 */
const requestMsMax = 60_000

const isThere = (error: unknown) => error instanceof ApiError && error.reason === 'AlreadyExists'
const isGone = (error: unknown) =>
  error instanceof ApiError && (error.code === 404 || error.code === 409)

export class AddressObjects {
  readonly cidrs = new ServiceCidrs()
  readonly #reader: ObjectReader
  readonly #writer: AddressWriter
  /** Addresses with an object, as far as this server knows. */
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

  /** Returns false if another object has the address. */
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

  /** The repair retries failed deletions. */
  async delete(addresses: readonly string[]): Promise<void> {
    await Promise.all(
      addresses.map((address) => this.#delete(canonical(address)).catch(leftBehind)),
    )
  }

  async #delete(name: string, uid?: string): Promise<void> {
    await this.#writer.client.delete(this.#writer.resource, '', name, uid ? { uid } : {})
  }

  /** Creates the missing objects of all services, and deletes objects without a service. */
  async repair(): Promise<void> {
    const { group, plural } = this.#writer.resource
    // Read the services last: objects are written before their services.
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
      // Two services have the address: a user must recreate one of them.
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

/** The canonical form of an address, which is the name of its object. */
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
