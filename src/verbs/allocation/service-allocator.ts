/**
 * Cluster IPs and node ports of services: given out once, released with their service. What is
 * taken is learned from the
 * services themselves, of this server and of every other on the store. Where the store has other
 * users, what is given out is
 * also claimed before it is stored; only those claims can be left behind by a crash and have to
 * be mended.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Allocators, Reservation } from '#verbs/allocate.ts'
import type { ServiceClaims, SharedStore } from './service-claims.ts'
import { holdingOf, isGoing, type ServiceRanges, ServiceStock } from './service-stock.ts'
import { ServiceTaking } from './service-taking.ts'

/** Loaded with the first service, one of them. */
const loadOlderRecipe = loadLater<typeof import('./older-service-recipe.ts')>(
  import.meta.url,
  './older-service-recipe',
)
const loadRecipe = loadLater<typeof import('./service-recipe.ts')>(
  import.meta.url,
  './service-recipe',
)

/** Loaded where the store has other users. */
const loadClaims = loadLater<typeof import('./service-claims.ts')>(
  import.meta.url,
  './service-claims',
)

/** Gives a service what it needs, in place. Throws ApiError where it cannot be had. */
type Recipe = (
  taking: ServiceTaking,
  service: KubeObject,
  old: KubeObject | undefined,
  context: Context,
) => Promise<void> | void

/** `shared`: the store has other users. */
export function serviceAllocators(
  ranges: ServiceRanges,
  reader: ObjectReader,
  random: () => number,
  shared?: SharedStore,
): Allocators {
  return new ServiceAllocators(ranges, reader, random, shared)
}

class ServiceAllocators implements Allocators {
  readonly #stock: ServiceStock
  readonly #reader: ObjectReader
  readonly #claims: ServiceClaims | undefined
  #following: Promise<unknown> | undefined
  #isHearing = false

  constructor(
    ranges: ServiceRanges,
    reader: ObjectReader,
    random: () => number,
    shared: SharedStore | undefined,
  ) {
    this.#stock = new ServiceStock(ranges, random)
    this.#reader = reader
    this.#claims = shared && new (loadClaims().ServiceClaims)(this.#stock, shared)
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
        ? loadRecipe().giveToService
        : loadOlderRecipe().giveToOlderService
    const take = () => this.#take(recipe, next, old, context)
    if (claims === undefined) {
      if (old === undefined) await this.#catchUp()
      return take()
    }
    const asked = copyData(next.spec)
    for (;;) {
      await Promise.all([this.#catchUp(), claims.refresh()])
      const taking = await take()
      if (context.dryRun || (await taking.claim())) return taking
      next.spec = copyData(asked)
    }
  }

  release(_kind: Kind, service: KubeObject): Promise<void> | undefined {
    this.#stock.drop(service)
    return isGoing(service) ? undefined : this.#claims?.release(holdingOf(service))
  }

  async repair(): Promise<void> {
    if (this.#following === undefined) await this.#followed()
    else await this.#claims?.mend(() => this.#catchUp())
  }

  async #take(
    recipe: Recipe,
    service: KubeObject,
    old: KubeObject | undefined,
    context: Context,
  ): Promise<ServiceTaking> {
    const [stock, claims] = [this.#stock, this.#claims]
    const catchUp = claims && (() => this.#catchUp())
    const taking = new ServiceTaking({ stock, claims, service, old, context, catchUp })
    try {
      await recipe(taking, service, old, context)
    } catch (error) {
      taking.forget()
      throw error
    }
    return taking
  }

  /** Resolves once what is stored, and what is claimed, is known. */
  async #followed(): Promise<void> {
    this.#following ??= this.#follow()
    await this.#following
  }

  async #follow(): Promise<void> {
    try {
      await this.#hearOfServices()
      await this.#claims?.mend(() => this.#catchUp())
    } catch (error) {
      // The store may be back when the next service is written.
      this.#following = undefined
      throw error
    }
  }

  /** Once for good, however often the claims cannot be looked at. */
  async #hearOfServices(): Promise<void> {
    if (this.#isHearing) return
    await this.#reader.follow('', 'services', {
      changed: (service) => this.#stock.hold(service),
      deleted: (service) => this.#stock.drop(service),
    })
    this.#isHearing = true
  }

  /**
   * A lookup of an object that does not exist first makes the reader catch up with all servers'
   * writes.
   */
  async #catchUp(): Promise<void> {
    await this.#reader.get('', 'services', '', '')
  }
}
