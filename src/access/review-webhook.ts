/**
 * Calls a remote review service: TokenReview for authentication, SubjectAccessReview for
 * authorization. It posts an object and expects the same kind with a status. Temporary failures are
 * retried with increasing delays. Permanent failures reject the promise, so a failure never counts
 * as approval.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Loose } from '#api/object-meta.ts'
import { type CallAnswer, type Caller, caller } from './https-call.ts'
import type { ClusterEndpoint } from './kubeconfig.ts'

export interface Backoff {
  readonly firstDelayMs: number
  readonly factor: number
  /** The maximum random part of a delay, as a factor. */
  readonly jitter: number
  readonly attempts: number
}

export const defaultBackoff: Backoff = { firstDelayMs: 500, factor: 1.5, jitter: 0.2, attempts: 5 }

/** The timeout of one request. */
const timeoutMsMax = 30_000
/** Limit of a response. Reviews are small objects. */
const answerBytesMax = 1024 * 1024

/** A failed call, with a flag that says whether a retry may succeed. */
class CallFailed extends Error {
  readonly passing: boolean
  constructor(message: string, passing: boolean) {
    super(message)
    this.passing = passing
  }
}

export class ReviewWebhook {
  readonly #endpoint: ClusterEndpoint
  readonly #call: Caller
  readonly #backoff: Backoff
  readonly #timeoutMs: number

  constructor(
    endpoint: ClusterEndpoint,
    backoff: Backoff = defaultBackoff,
    timeoutMs = timeoutMsMax,
  ) {
    this.#timeoutMs = timeoutMs
    this.#endpoint = endpoint
    this.#call = caller(endpoint)
    this.#backoff = backoff
  }

  /** The status of the response. */
  async review(apiVersion: string, kind: string, spec: Loose): Promise<Loose> {
    const body = JSON.stringify({
      kind,
      apiVersion,
      metadata: { creationTimestamp: null },
      spec,
      status: kind === 'TokenReview' ? { user: {} } : { allowed: false },
    })
    const { firstDelayMs, factor, jitter, attempts } = this.#backoff
    let delay = firstDelayMs
    for (let attempt = 1; ; attempt++) {
      try {
        return statusOf(await this.#post(body), apiVersion, kind)
      } catch (error) {
        const passing = error instanceof CallFailed && error.passing
        if (!passing || attempt >= attempts) throw error
      }
      await sleep(delay * (1 + Math.random() * jitter), undefined, { ref: false })
      delay *= factor
    }
  }

  async #post(body: string): Promise<CallAnswer> {
    const { url, identity } = this.#endpoint
    try {
      return await this.#call({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        identity: identity(),
        body,
        timeoutMs: this.#timeoutMs,
        answerBytesMax,
      })
    } catch (error) {
      const { message, code } = error as Error & { code?: string }
      throw new CallFailed(message, code === 'ECONNRESET' || code === 'EPIPE')
    }
  }
}

function statusOf({ status, headers, body }: CallAnswer, apiVersion: string, kind: string): Loose {
  if (status < 200 || status > 202) {
    const passing =
      [429, 500, 504].includes(status) || (status >= 400 && headers['retry-after'] !== undefined)
    throw new CallFailed(`the webhook answered with status ${status}`, passing)
  }
  let answer: Loose
  try {
    answer = JSON.parse(body)
  } catch {
    throw new CallFailed('the webhook answered with something that is no JSON', false)
  }
  if (answer?.kind !== kind || answer.apiVersion !== apiVersion)
    throw new CallFailed(
      `the webhook answered with something that is no ${apiVersion} ${kind}`,
      false,
    )
  if (typeof answer.status !== 'object' || answer.status === null) return {}
  return answer.status
}
