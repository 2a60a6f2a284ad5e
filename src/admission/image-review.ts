/**
 * Calls the service that reviews images. Retries temporary failures with increasing delays, as long
 * as kube-apiserver does. Failures have kube-apiserver's messages.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallAnswer, type CallError, type Caller, caller } from '#access/https-call.ts'
import type { ClusterEndpoint } from '#access/kubeconfig.ts'
import { type Backoff, defaultBackoff } from '#access/review-webhook.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Address } from './webhook/address.ts'
import { callProblem, statusProblem } from './webhook/call-problem.ts'
import { answeredIn } from './webhook/hook-client.ts'

const apiVersion = 'imagepolicy.k8s.io/v1alpha1'
const kind = 'ImageReview'
/** The timeout of one request. */
const timeoutMs = 30_000
/** Limit of a response. Reviews are small objects. */
const answerBytesMax = 1 << 20

export class ImageReviewer {
  readonly #endpoint: ClusterEndpoint
  readonly #call: Caller
  readonly #backoff: Backoff

  constructor(endpoint: ClusterEndpoint, firstDelayMs: number) {
    const url = new URL(endpoint.url)
    url.searchParams.set('timeout', `${timeoutMs / 1000}s`)
    this.#endpoint = { ...endpoint, url }
    this.#call = caller(endpoint)
    this.#backoff = { ...defaultBackoff, firstDelayMs }
  }

  /** Returns the status of the response. */
  async review(spec: Loose): Promise<Loose> {
    const metadata = { creationTimestamp: null }
    const body = JSON.stringify({ kind, apiVersion, metadata, spec, status: { allowed: false } })
    const { factor, jitter, attempts } = this.#backoff
    let delay = this.#backoff.firstDelayMs
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#post(body)
      const mayPass = answer instanceof Error ? isCut(answer) : isBusy(answer)
      if (!mayPass || attempt >= attempts) return this.#statusOf(answer)
      await sleep(delay * (1 + Math.random() * jitter), undefined, { ref: false })
      delay *= factor
    }
  }

  #post(body: string): Promise<CallAnswer | Error> {
    const { url } = this.#endpoint
    const headers = { 'content-type': 'application/json', accept: 'application/json, */*' }
    const identity = this.#endpoint.identity()
    const call = {
      method: 'POST',
      url,
      headers,
      identity,
      body,
      timeoutMs,
      answerBytesMax,
    } as const
    return this.#call(call).catch((error: Error) => error)
  }

  #statusOf(answer: CallAnswer | Error): Loose {
    const { url, serverName } = this.#endpoint
    if (answer instanceof Error) {
      const address: Address = { url, host: url.host, serverName, shown: url.href }
      throw new Error(callProblem(answer as CallError, address))
    }
    if (answer.status < 200 || answer.status > 299) throw new Error(statusProblem(answer))
    const { review } = answeredIn(answer)
    if (review.kind === kind && review.apiVersion === apiVersion) return review.status ?? {}
    const version = String(review.apiVersion ?? '')
      .split('/')
      .pop()
    throw new Error(
      `converting (${version}.${review.kind ?? ''}) to (v1alpha1.${kind}): unknown conversion`,
    )
  }
}

const isCut = ({ code }: Error & { code?: string }): boolean =>
  code === 'ECONNRESET' || code === 'EPIPE'

const isBusy = ({ status, headers }: CallAnswer): boolean =>
  [429, 500, 504].includes(status) || (status >= 400 && headers['retry-after'] !== undefined)
