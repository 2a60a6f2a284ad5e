/**
 * The EventRateLimit plugin limits the rate of events: for the whole server, a namespace, a user,
 * or one source and object.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { together } from './refusal.ts'
import { TokenBucket } from '#base/token-bucket.ts'

/** Default number of cached buckets. The least recently used one is evicted first. */
const cacheSizeDefault = 4096

type KeyOf = (request: AdmissionRequest) => string

const keys: Readonly<Record<string, KeyOf>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => sourceAndObject(object as KubeObject),
}

function sourceAndObject({ source = {}, involvedObject: about = {} }: Loose): string {
  const parts = [
    source.component,
    source.host,
    about.kind,
    about.namespace,
    about.name,
    about.uid,
    about.apiVersion,
  ]
  return parts.map((part) => part ?? '').join('')
}

class Limit {
  readonly #type: string
  readonly #qps: number
  readonly #burst: number
  readonly #size: number
  readonly #buckets = new Map<string, TokenBucket>()

  constructor({ type, qps, burst, cacheSize }: Loose) {
    if (keys[type] === undefined) throw new Error(`unknown event rate limit type: ${type}`)
    if (!(qps > 0)) throw new Error('limits: qps: must be positive')
    if (!(burst > 0)) throw new Error('limits: burst: must be positive')
    this.#type = type
    this.#qps = qps
    this.#burst = burst
    this.#size = cacheSize || cacheSizeDefault
  }

  problem(request: AdmissionRequest, now: number): string | undefined {
    const key = (keys[this.#type] as KeyOf)(request)
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#qps, this.#burst, now)
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    if (this.#buckets.size > this.#size)
      this.#buckets.delete(this.#buckets.keys().next().value as string)
    return bucket.take(now) ? undefined : `limit reached on type ${this.#type} for key ${key}`
  }
}

export function eventRateLimit(
  configuration: Loose | undefined,
  nowMs: () => number,
): AdmissionPlugin {
  const limits = ((configuration?.limits ?? []) as Loose[]).map((limit) => new Limit(limit))
  if (limits.length === 0) throw new Error('limits: Invalid value: no limits configured')
  return {
    name: 'EventRateLimit',
    validate(request) {
      if (request.kind.kind !== 'Event' || request.kind.group !== '' || request.dryRun) return
      if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return
      const now = nowMs()
      const problems = limits
        .map((limit) => limit.problem(request, now))
        .filter((problem) => problem !== undefined)
      if (problems.length > 0)
        throw new ApiError(429, 'TooManyRequests', `Too many requests: ${together(problems)}`)
    },
  }
}
