/**
 * Leases, with which etcd deletes keys after their time to live. Writes with the same time to live
 * share a lease for a while, because a lease per event would be too expensive. So a key may live up
 * to a twentieth longer.
 */
import { timerMsMax } from '#base/clock.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import { type Connection, methods } from './connection.ts'
import { isLeaseTaken } from './failure.ts'
import { decodeLeaseGrant, encodeLeaseGrant } from './messages.ts'

/** The longest that a lease is shared by further keys, if not configured. */
const defaultSharedSecondsMax = 60

/** etcd deletes all keys of a lease in one transaction, which has a size limit. */
const keysPerLeaseMax = 1000

interface Lease {
  readonly id: Promise<number>
  readonly sharedUntil: number
  keys: number
}

export class Leases {
  #connection: Connection
  #elapsed: () => number
  #random: () => number
  #byTtl = new Map<number, Lease>()

  readonly #sharedSecondsMax: number

  constructor(
    connection: Connection,
    elapsed: () => number,
    random: () => number,
    sharedSecondsMax = defaultSharedSecondsMax,
  ) {
    this.#sharedSecondsMax = sharedSecondsMax
    this.#connection = connection
    this.#elapsed = elapsed
    this.#random = random
  }

  /** The lease for a write that should live so long, and that waits until `deadline` (a time). */
  async of(ttlSeconds: number, deadline: number): Promise<number> {
    const late = Promise.withResolvers<never>()
    const fail = () => late.reject(new StorageUnavailable('etcd did not grant a lease in time'))
    const timer = setTimeout(fail, Math.min(timerMsMax, Math.max(0, deadline - Date.now())))
    try {
      return await Promise.race([this.#shared(ttlSeconds), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Writes with different deadlines share the lease, so its request has a deadline of its own. */
  async #shared(ttlSeconds: number): Promise<number> {
    const known = this.#byTtl.get(ttlSeconds)
    if (known && known.keys < keysPerLeaseMax && this.#elapsed() < known.sharedUntil) {
      known.keys++
      return known.id
    }
    const sharedSeconds = Math.min(ttlSeconds / 20, this.#sharedSecondsMax)
    const id = this.#grant(Math.ceil(ttlSeconds + sharedSeconds))
    const sharedUntil = this.#elapsed() + sharedSeconds * 1000
    this.#byTtl.set(ttlSeconds, { id, sharedUntil, keys: 1 })
    id.catch(() => this.#byTtl.delete(ttlSeconds))
    return id
  }

  /** The server does not know the lease any more. */
  forget(ttlSeconds: number): void {
    this.#byTtl.delete(ttlSeconds)
  }

  async #grant(ttlSeconds: number): Promise<number> {
    // This ID fits in a JavaScript number; one chosen by etcd might not. Servers that imitate etcd
    // choose their own.
    const id = 1 + Math.floor(this.#random() * (Number.MAX_SAFE_INTEGER - 1))
    const request = encodeLeaseGrant(id, ttlSeconds)
    try {
      // Repeat the request if its response was lost: etcd then reports that the lease exists.
      return decodeLeaseGrant(await this.#connection.read(methods.leaseGrant, request))
    } catch (error) {
      if (isLeaseTaken(error)) return id
      throw error
    }
  }
}
