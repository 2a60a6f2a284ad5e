/**
 * Elects one server as the leader: the server that holds a Lease and renews it in time. Each server
 * measures times with its own clock, from the moment when it sees a change of the lease, so clocks
 * need not agree. A leader that cannot renew stops before another server may take over.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { type Clock, elapsedMs } from '#base/clock.ts'
import { pause } from './backoff.ts'
import type { ApiClient, ResourceRef } from './client.ts'

const leases: ResourceRef = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' }

export interface ElectionOptions {
  readonly client: ApiClient
  readonly namespace: string
  readonly name: string
  /** The unique identity of this server. */
  readonly identity: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly report: (message: string, error: unknown) => void
  /** Leads until the given signal aborts. */
  readonly lead: (signal: AbortSignal) => void
  readonly leaseDurationMs?: number
  readonly renewDeadlineMs?: number
  readonly retryPeriodMs?: number
}

/**
 * Resolves when the signal aborts. The lease is then released, so that another server need not wait
 * for it.
 */
export async function runForLeader(options: ElectionOptions): Promise<void> {
  const { signal, retryPeriodMs = 2000, renewDeadlineMs = 10_000 } = options
  const candidate = new Candidate(options)
  let leading: AbortController | undefined
  let renewedAt = 0
  while (!signal.aborted) {
    // Other candidates measure from the write of the lease, which is not before this time.
    const sentAt = candidate.elapsed()
    const spentMs = leading === undefined ? 0 : sentAt - renewedAt
    try {
      if (await withinTime(candidate.acquire(), Math.max(0, renewDeadlineMs - spentMs))) {
        renewedAt = sentAt
        if (leading === undefined) {
          leading = new AbortController()
          options.lead(leading.signal)
        }
      } else if (leading !== undefined) {
        leading.abort()
        leading = undefined
      }
    } catch (error) {
      options.report('the lease of the leader could not be renewed', error)
      if (leading !== undefined && candidate.elapsed() - renewedAt >= renewDeadlineMs) {
        leading.abort()
        leading = undefined
      }
    }
    const leftMs =
      leading === undefined ? Infinity : renewDeadlineMs - (candidate.elapsed() - renewedAt)
    await pause(Math.max(0, Math.min(retryPeriodMs, leftMs)), signal)
  }
  if (leading === undefined) return
  leading.abort()
  // A stopping leader does not wait for an unavailable store: the lease expires by itself.
  await withinTime(candidate.release(), renewDeadlineMs).catch(() => {})
}

/** Rejects a request that takes too long, because the lease expires meanwhile. */
async function withinTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

class Candidate {
  readonly #options: ElectionOptions
  /** The lease as last seen, and when this server first saw it in this state. */
  #seen: { version: string; at: number } | undefined

  constructor(options: ElectionOptions) {
    this.#options = options
  }

  elapsed(): number {
    return elapsedMs(this.#options.clock)
  }

  /** Tries to acquire or renew the lease. Returns whether this server leads now. */
  async acquire(): Promise<boolean> {
    const { client, namespace, name, identity, leaseDurationMs = 15_000 } = this.#options
    let lease: KubeObject
    try {
      lease = await client.get(leases, namespace, name)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error
      const metadata = { name, namespace }
      return this.#write(() =>
        client.create(leases, namespace, { metadata, spec: this.#spec(undefined) }),
      )
    }
    const version = lease.metadata.resourceVersion as string
    if (this.#seen?.version !== version) this.#seen = { version, at: this.elapsed() }
    const holder = lease.spec?.holderIdentity ?? ''
    const held = holder !== '' && holder !== identity
    const lifeMs = (lease.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000
    if (held && this.elapsed() - this.#seen.at < lifeMs) return false
    return this.#write(() => client.update(leases, { ...lease, spec: this.#spec(lease.spec) }))
  }

  async release(): Promise<void> {
    const { client, namespace, name, identity } = this.#options
    const lease = await client.get(leases, namespace, name)
    if (lease.spec?.holderIdentity !== identity) return
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 }
    await client.update(leases, { ...lease, spec })
  }

  /** A lost race means that another candidate leads. */
  async #write(write: () => Promise<KubeObject>): Promise<boolean> {
    try {
      const { metadata } = await write()
      this.#seen = { version: metadata.resourceVersion as string, at: this.elapsed() }
      return true
    } catch (error) {
      if (error instanceof ApiError && error.code === 409) return false
      throw error
    }
  }

  #spec(old: KubeObject['spec']) {
    const { identity, clock, leaseDurationMs = 15_000 } = this.#options
    const now = new Date(clock.now()).toISOString().replace('Z', '000Z')
    const same = old?.holderIdentity === identity
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(1, Math.round(leaseDurationMs / 1000)),
      acquireTime: same ? old.acquireTime : now,
      renewTime: now,
      leaseTransitions: (old?.leaseTransitions ?? 0) + (same || old === undefined ? 0 : 1),
    }
  }
}
