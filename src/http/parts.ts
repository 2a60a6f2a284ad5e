/** The dependencies of the HTTP layer. They are created once at the start. */
import type { ConstrainedImpersonation } from '#access/constrained-impersonation.ts'
import type { Credentials, AuthenticationResult } from '#access/authenticate.ts'
import type { Authorizer } from '#access/authorize.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Server } from '#verbs/server.ts'
import type { Aggregation } from './aggregation/aggregation.ts'
import type { ConnectParts } from './connect/connect-parts.ts'
import type { Exchange } from './exchange.ts'
import type { WatchMeter } from '#http/watch/watch-stream.ts'

export interface HttpParts {
  readonly server: Server
  readonly authenticate: (
    credentials: Credentials,
  ) => AuthenticationResult | Promise<AuthenticationResult>
  /** The WWW-Authenticate challenge of a 401. */
  readonly challenge: string | undefined
  readonly authorizer: Authorizer
  /** Whether authorizers get the selectors of list requests. */
  readonly authorizesSelectors: boolean
  /**
   * Handlers of paths that are not resources: health, version, discovery, OpenAPI, metrics. The
   * first match wins.
   */
  readonly paths: readonly PathHandler[]
  readonly limits: HttpLimits
  /** Called before routing and after the response: audit, fairness, metrics. */
  readonly observers: readonly Observer[]
  readonly instruments?: Instruments
  /** Undefined where the verb `impersonate` alone decides about impersonation. */
  readonly constrainedImpersonation?: (() => ConstrainedImpersonation) | undefined
  /** Connections to pods, services and nodes; if undefined, they are not served. */
  readonly connect?: ConnectParts
  /** Aggregated group versions; if undefined, there are none. */
  readonly aggregation?: Aggregation
  /** Reports an internal error, which no client can cause. */
  readonly report: (message: string, error: unknown) => void
  readonly monotonicMs: () => number
  readonly newAuditId: () => string
  /** Aborted when the server stops, which ends watches. */
  readonly stopping: AbortSignal
}

/** Metrics that are recorded during a request. */
export interface Instruments {
  authenticated(result: 'success' | 'failure' | 'error', userName: string, tookMs: number): void
  authorized(result: 'allowed' | 'denied' | 'no-opinion' | 'error', tookMs: number): void
  watch(kind: Kind): WatchMeter
}

export interface HttpLimits {
  readonly requestTimeoutMs: number
  readonly minRequestTimeoutSeconds: number
  readonly bodyBytesMax: number
}

export interface PathHandler {
  /** Whether this handler serves the path. */
  readonly matches: (path: string) => boolean
  handle(exchange: Exchange): void | Promise<void>
}

export interface Observer {
  /** Called after authentication, before authorization. */
  begin?(exchange: Exchange): void | Promise<void>
  /**
   * Called when a request is rejected, possibly before `begin`: decides whether the response has an
   * audit ID.
   */
  refusing?(exchange: Exchange): void
  /** Called when a streamed response has started. */
  started?(exchange: Exchange): void
  /** Called when the response is complete or the client has disconnected. */
  end?(exchange: Exchange): void
}
