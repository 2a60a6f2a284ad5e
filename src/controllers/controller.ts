/**
 * The interface of a controller and the parts it may use. These are an API client, shared
 * informers, a clock, and the few secrets that only the server has.
 */
import type { X509Certificate, KeyObject } from 'node:crypto'
import type { TokenMint } from '#access/authenticate/service-account-token.ts'
import type { TimerClock } from '#base/clock.ts'
import type { ApiClient } from '#client/client.ts'
import type { QueueMeter } from '#client/work-queue.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import type { Informers } from './informers.ts'

export interface Controller {
  /** The name in kube-controller-manager's --controllers. */
  readonly name: string
  /** The service account it uses: `system:serviceaccount:kube-system:<account>`. */
  readonly account: string
  /** Starts the controller. The abort signal stops all its work. */
  start(parts: ControllerParts): void
}

export interface Authority {
  readonly certificate: X509Certificate
  readonly privateKey: KeyObject
}

/** Parts that all controllers share. */
export interface Surroundings {
  readonly clientFor: (account: string) => ApiClient
  readonly clock: TimerClock
  /** The OpenAPI v3 schema of a served kind with all references resolved. */
  readonly schemaOf: (apiVersion: string, kind: string) => JsonSchema | undefined
  /** Minor number of the emulated release. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  /** Something went wrong and will be tried again. */
  readonly report: (message: string, error?: unknown) => void
  readonly randomSuffix: () => string
  /** Measures the work queue of this name; undefined without metrics. */
  readonly queueMeter?: ((name: string) => QueueMeter) | undefined
  /** The authorities by which clients verify the server, PEM. */
  readonly rootCertificates: string
  /** Undefined where there is no key to sign tokens with. */
  readonly mint: TokenMint | undefined
  /** Signs requested certificates; undefined without an authority. */
  readonly authority: Authority | undefined
  readonly signingDurationMs: number
  /** How many finished pods are kept; 0 for all. */
  readonly terminatedPodsMax: number
  /** How long a generated token must be unused before it is invalid, and then before its end. */
  readonly legacyTokenUnusedMs: number
  /**
   * Time after which other servers on the store have seen a write, and have stored the writes that
   * they admitted before. 0 with a single server.
   */
  readonly othersSeeMs: number
}

export interface ControllerParts extends Surroundings {
  readonly client: ApiClient
  readonly informers: Informers
  readonly signal: AbortSignal
}
