/**
 * The number of running and waiting requests, separately for reads and writes. Metrics show the
 * maximum of the last second.
 */
import type { ValueFamily } from '#observe/metrics/metric.ts'
import type { Registry } from '#observe/metrics/registry.ts'

export type RequestKind = 'readOnly' | 'mutating'

export const requestKind = (verb: string): RequestKind =>
  verb === 'get' || verb === 'list' || verb === 'watch' ? 'readOnly' : 'mutating'

const windowMs = 1000

export class InFlightMark {
  readonly #now = { readOnly: 0, mutating: 0 }
  readonly #most = { readOnly: 0, mutating: 0 }
  #windowStartedAt = 0

  constructor(registry: Registry, family: ValueFamily) {
    const reads = family.labels('readOnly')
    const writes = family.labels('mutating')
    registry.collect(() => {
      reads.set(Math.max(this.#most.readOnly, this.#now.readOnly))
      writes.set(Math.max(this.#most.mutating, this.#now.mutating))
      this.#most.readOnly = this.#now.readOnly
      this.#most.mutating = this.#now.mutating
    })
  }

  of(kind: RequestKind): number {
    return this.#now[kind]
  }

  add(kind: RequestKind, amount: number, nowMs: number): void {
    if (nowMs - this.#windowStartedAt > windowMs) {
      this.#windowStartedAt = nowMs
      this.#most.readOnly = this.#now.readOnly
      this.#most.mutating = this.#now.mutating
    }
    const now = (this.#now[kind] += amount)
    if (now > this.#most[kind]) this.#most[kind] = now
  }
}
