/**
 * Allocates cluster IPs and node ports, which are released with their service. The used numbers
 * come from the stored services, of this server and of others on the store. If other servers share
 * the store, numbers are also claimed in the store before the service is written. A crash can leave
 * only such claims behind, and a repair releases them.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Allocators, Reservation } from '#verbs/allocate.ts'
import type { AddressObjects, AddressWriter } from './address-objects.ts'
import type { ServiceClaims, SharedStore } from './service-claims.ts'
import { holdingOf, isBeingDeleted, type ServiceRanges, ServiceStock } from './service-stock.ts'
import { ServiceTaking } from './service-taking.ts'

/** The code for one of the two release ranges is loaded with the first service. */
const loadOlderRecipe = loadLater<typeof import('./older-service-recipe.ts')>(
  import.meta.url,
  './older-service-recipe',
)
const loadRecipe = loadLater<typeof import('./service-recipe.ts')>(
  import.meta.url,
  './service-recipe',
)

/** Loaded if other servers share the store. */
const loadClaims = loadLater<typeof import('./service-claims.ts')>(
  import.meta.url,
  './service-claims',
)

/** Loaded if addresses are objects. */
const loadObjects = loadLater<typeof import('./address-objects.ts')>(
  import.meta.url,
  './address-objects',
)

/** Allocates what a service needs and sets its fields. Throws ApiError if that fails. */
type Recipe = (
  taking: ServiceTaking,
  service: KubeObject,
  old: KubeObject | undefined,
  context: Context,
  objects: { readonly of: AddressObjects; readonly random: () => number } | undefined,
) => Promise<void> | void

/**
 * `shared` is set if other servers share the store, `writer` if addresses are IPAddress objects.
 */
export function serviceAllocators(
  ranges: ServiceRanges,
  reader: ObjectReader,
  random: () => number,
  shared?: SharedStore,
  writer?: AddressWriter,
): Allocators {
  return new ServiceAllocators(ranges, reader, random, shared, writer)
}

class ServiceAllocators implements Allocators {
  readonly #stock: ServiceStock
  readonly #reader: ObjectReader
  readonly #random: () => number
  readonly #claims: ServiceClaims | undefined
  readonly #objects: AddressObjects | undefined
  #following: Promise<unknown> | undefined
  #isFollowing = false

  constructor(
    ranges: ServiceRanges,
    reader: ObjectReader,
    random: () => number,
    shared: SharedStore | undefined,
    writer: AddressWriter | undefined,
  ) {
    this.#stock = new ServiceStock(ranges, random)
    this.#reader = reader
    this.#random = random
    this.#claims = shared && new (loadClaims().ServiceClaims)(this.#stock, shared)
    this.#objects = writer && new (loadObjects().AddressObjects)(reader, writer)
  }

  async reserve(
    kind: Kind,
    next: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Promise<Reservation> {
    await this.#followed()
    const claims = this.#claims
    const recipe =
      kind.resource.behaviour.allocatesFirst === true
        ? loadRecipe().allocateForService
        : loadOlderRecipe().allocateForOlderService
    const take = () => this.#take(recipe, next, old, context)
    if (claims === undefined) {
      if (old === undefined) await this.#catchUp()
      return take()
    }
    const requested = copyData(next.spec)
    for (;;) {
      await Promise.all([this.#catchUp(), claims.refresh()])
      const taking = await take()
      if (context.dryRun || (await taking.claim())) return taking
      next.spec = copyData(requested)
    }
  }

  release(_kind: Kind, service: KubeObject, isHeld = false): Promise<void> | undefined {
    this.#stock.drop(service)
    const holding = holdingOf(service)
    const claims = isBeingDeleted(service) ? undefined : this.#claims?.release(holding)
    if (this.#objects === undefined || isHeld || holding.addresses.length === 0) return claims
    return this.#releaseBoth(claims, this.#objects.delete(holding.addresses))
  }

  async #releaseBoth(claims: Promise<void> | undefined, objects: Promise<void>): Promise<void> {
    await Promise.all([claims, objects])
  }

  async repair(): Promise<void> {
    if (this.#following === undefined) await this.#followed()
    else await this.#mend()
  }

  async #mend(): Promise<void> {
    await this.#claims?.mend(() => this.#catchUp())
    if (this.#objects === undefined) return
    await this.#catchUp()
    await this.#objects.repair()
  }

  async #take(
    recipe: Recipe,
    service: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Promise<ServiceTaking> {
    const [stock, claims] = [this.#stock, this.#claims]
    const catchUp = claims && (() => this.#catchUp())
    const objects = this.#objects
    const taking = new ServiceTaking({ stock, claims, objects, service, old, context, catchUp })
    try {
      const source = objects && { of: objects, random: this.#random }
      await recipe(taking, service, old, context, source)
    } catch (error) {
      await taking.undo()
      throw error
    }
    return taking
  }

  /** Resolves when the stored services and the claims are known. */
  async #followed(): Promise<void> {
    this.#following ??= this.#follow()
    await this.#following
  }

  async #follow(): Promise<void> {
    try {
      await this.#followServices()
      await this.#mend()
    } catch (error) {
      // Retry with the next service, when the store may be available again.
      this.#following = undefined
      throw error
    }
  }

  /** Follows services only once, even if reading the claims fails and is retried. */
  async #followServices(): Promise<void> {
    if (this.#isFollowing) return
    await this.#objects?.follow()
    await this.#reader.follow('', 'services', {
      changed: (service) => this.#stock.hold(service),
      deleted: (service) => this.#stock.drop(service),
    })
    this.#isFollowing = true
  }

  /** A read of a missing object makes the reader wait for all servers' earlier writes. */
  async #catchUp(): Promise<void> {
    await this.#reader.get('', 'services', '', '')
  }
}
