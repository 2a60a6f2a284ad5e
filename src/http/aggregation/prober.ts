/**
 * Maintains the Available condition of each APIService. It probes when the APIService, its service
 * or its endpoints change, and every 30 seconds. An unavailable server is probed again with
 * increasing pauses.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { apiServices, apiVersion, serviceOf } from './api-service.ts'
import { availabilityOf, type LookAtDiscovery, withCondition } from './availability.ts'

export interface ProberParts {
  readonly reader: ObjectReader
  readonly client: ApiClient
  readonly look: LookAtDiscovery
  /** RFC 3339, whole seconds. */
  readonly now: () => string
  readonly report: (message: string, error: unknown) => void
}

/** A service and its endpoints often change together, so such changes are combined in one probe. */
const settleMs = 5
const settled = () => new Promise((resolve) => setTimeout(resolve, settleMs))
const recheckMs = 30_000
const retryMsMin = 5
const retryMsMax = 30_000

export class Prober {
  readonly #parts: ProberParts
  readonly #known = new Map<string, KubeObject>()
  /** The APIServices that are being probed; true if one changed meanwhile. */
  readonly #looking = new Map<string, boolean>()
  readonly #retries = new Map<string, { count: number; timer: NodeJS.Timeout | undefined }>()
  readonly #stops: (() => void)[] = []
  #stopped = false
  #following = false

  constructor(parts: ProberParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    this.#stops.push(
      await this.#parts.reader.follow(apiServices.group, apiServices.plural, {
        changed: (object) => this.#changed(object),
        deleted: ({ metadata }) => this.#forget(metadata.name ?? ''),
      }),
    )
    const timer = setInterval(() => {
      for (const [name, object] of this.#known)
        if (serviceOf(object) !== undefined) this.#look(name)
    }, recheckMs)
    timer.unref()
    this.#stops.push(() => clearInterval(timer))
  }

  stop(): void {
    this.#stopped = true
    for (const stop of this.#stops.splice(0)) stop()
    for (const { timer } of this.#retries.values()) clearTimeout(timer)
  }

  #changed(object: KubeObject): void {
    const name = object.metadata.name ?? ''
    this.#known.set(name, object)
    if (serviceOf(object) !== undefined) this.#followServices()
    this.#look(name)
  }

  /**
   * Services and endpoints are followed only if there are aggregated servers, because they are many
   * and change often.
   */
  #followServices(): void {
    if (this.#following || this.#stopped) return
    this.#following = true
    const touched = (object: KubeObject) => this.#serviceTouched(object)
    for (const plural of ['services', 'endpoints']) {
      this.#parts.reader.follow('', plural, { changed: touched, deleted: touched }).then(
        (stop) => {
          if (this.#stopped) stop()
          else this.#stops.push(stop)
        },
        (error) => this.#parts.report(`${plural} cannot be followed`, error),
      )
    }
  }

  #forget(name: string): void {
    this.#known.delete(name)
    clearTimeout(this.#retries.get(name)?.timer)
    this.#retries.delete(name)
  }

  #serviceTouched({ metadata }: KubeObject): void {
    for (const [name, object] of this.#known) {
      const service = serviceOf(object)
      if (service?.name === metadata.name && service?.namespace === metadata.namespace)
        this.#look(name)
    }
  }

  #look(name: string): void {
    if (this.#stopped) return
    if (this.#looking.has(name)) {
      this.#looking.set(name, true)
      return
    }
    this.#looking.set(name, false)
    settled()
      .then(() => this.#check(name))
      .catch((error) =>
        this.#parts.report(`cannot determine the availability of APIService ${name}`, error),
      )
      .finally(() => {
        const again = this.#looking.get(name) === true
        this.#looking.delete(name)
        if (again) this.#look(name)
      })
  }

  async #check(name: string): Promise<void> {
    const { reader, client, look, now } = this.#parts
    const object = this.#known.get(name)
    if (object === undefined || this.#stopped) return
    const found = await availabilityOf(object, reader, look)
    const status = withCondition(object.status, found, now())
    if (found.reason === 'FailedDiscoveryCheck') this.#retryLater(name)
    else this.#forgetRetries(name)
    if (status === undefined || this.#stopped || !this.#known.has(name)) return
    try {
      await client.update(apiServices, { ...structuredClone(object), apiVersion, status }, 'status')
    } catch (error) {
      // Deleted or changed by another client: that change is handled when it arrives.
      const lost = error instanceof ApiError && (error.code === 404 || error.code === 409)
      if (!lost) throw error
    }
  }

  #forgetRetries(name: string): void {
    clearTimeout(this.#retries.get(name)?.timer)
    this.#retries.delete(name)
  }

  #retryLater(name: string): void {
    const { count = 0, timer } = this.#retries.get(name) ?? {}
    clearTimeout(timer)
    const waitMs = Math.min(retryMsMin * 2 ** count, retryMsMax)
    const next = setTimeout(() => this.#look(name), waitMs)
    next.unref()
    this.#retries.set(name, { count: count + 1, timer: next })
  }
}
