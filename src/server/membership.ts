/**
 * The membership of this server among those that share its store. It renews its own registration
 * and writes the addresses of all live servers to the endpoints of the `kubernetes` service. It
 * repairs allocations that a crashed server left behind, and deregisters on shutdown. Loaded only
 * if several servers can share the store.
 */
import type { ApiClient } from '#client/client.ts'
import type { Allocators } from '#verbs/allocate.ts'
import { ServerCount } from './server-count.ts'
import { type KnownServers, ServerLeases, type ServerLeasesParts } from './server-leases.ts'
import { repairRegularly } from './service-repair.ts'
import { isLoopback, kubernetesEndpoints, writeKubernetesEndpoints } from './system-objects.ts'

/** kube-apiserver uses the same interval. */
const renewIntervalMs = 10_000

export interface MembershipParts extends ServerLeasesParts {
  readonly port: number
  readonly release: number
  /** How servers find each other. The number of servers is fixed for `master-count`. */
  readonly reconciler: 'lease' | 'master-count' | 'none'
  readonly count: number
  readonly report: (message: string, error: unknown) => void
}

export class Membership {
  readonly #parts: MembershipParts
  /**
   * Undefined if the server gets no endpoint: only its own machine can reach it, or the flags say
   * so.
   */
  readonly #known: KnownServers | undefined
  #stop = (): void => {}
  #client: ApiClient | undefined
  /** The renewal in progress. There is at most one, and leaving waits for it. */
  #renewing: Promise<void> | undefined

  constructor(parts: MembershipParts) {
    this.#parts = parts
    if (isLoopback(parts.address) || parts.reconciler === 'none') return
    this.#known =
      parts.reconciler === 'lease' ? new ServerLeases(parts) : new ServerCount(parts, parts.count)
  }

  /**
   * The addresses of all live servers; empty if they cannot be determined, which is no reason not
   * to start.
   */
  async alive(): Promise<readonly string[]> {
    return (await this.#known?.renew().catch(this.#failed)) ?? []
  }

  start(client: ApiClient, allocators: Pick<Allocators, 'repair'>): void {
    this.#client = client
    const repair = repairRegularly(allocators, this.#parts.report)
    const timer = setInterval(() => {
      this.#renewing ??= this.#renew(client).finally(() => (this.#renewing = undefined))
    }, renewIntervalMs)
    timer.unref()
    this.#stop = () => {
      repair.stop()
      clearInterval(timer)
    }
  }

  async leave(): Promise<void> {
    this.#stop()
    await this.#renewing
    if (this.#known === undefined || this.#client === undefined) return
    await this.#known
      .leave()
      .then((others) => this.#lead(this.#client as ApiClient, others))
      .catch(this.#failed)
  }

  async #renew(client: ApiClient): Promise<void> {
    await this.#known
      ?.renew()
      .then((alive) => this.#lead(client, alive))
      .catch(this.#failed)
  }

  /** Other servers may use another order or port; this server does not overwrite that. */
  async #lead(client: ApiClient, alive: readonly string[]): Promise<void> {
    const { release, reconciler } = this.#parts
    // A counting server removed its own address; a lease expires by itself.
    if (alive.length === 0 && reconciler !== 'master-count') return
    const { addressLists, port = this.#parts.port } = await kubernetesEndpoints(client, release)
    // Two servers that write concurrently may leave inconsistent endpoints, so both objects are
    // compared.
    if (addressLists.every((addresses) => [...addresses].sort().join() === alive.join())) return
    await writeKubernetesEndpoints(client, { ...this.#parts, port }, alive)
  }

  #failed = (error: unknown): void =>
    this.#parts.report(
      'the endpoints of the API could not be written; the server tries again',
      error,
    )
}
