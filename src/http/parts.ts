/** What the HTTP layer is made of: built once, at the start, and handed over. */
import type { Credentials, AuthenticationResult } from '#access/authenticate.ts'
import type { Authorizer } from '#access/authorize.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Server } from '#verbs/server.ts'
import type { Aggregation } from './aggregation/aggregation.ts'
import type { ConnectParts } from './connect/connect-parts.ts'
import type { Exchange } from './exchange.ts'
import type { WatchMeter } from './watch-stream.ts'

export interface HttpParts {
  readonly server: Server
  readonly authenticate: (
    credentials: Credentials,
  ) => AuthenticationResult | Promise<AuthenticationResult>
  /** The challenge of a 401, if there is one. */
  readonly challenge: string | undefined
  readonly authorizer: Authorizer
  /** Whether authorizers see the selectors of lists. */
  readonly authorizesSelectors: boolean
  /** Paths that are no resource: health, version, discovery, OpenAPI, metrics. First match wins. */
  readonly paths: readonly PathHandler[]
  readonly limits: HttpLimits
  /** Runs before routing and after the answer: audit, fairness, metrics. */
  readonly observers: readonly Observer[]
  readonly instruments?: Instruments
  /** Connections to what runs in the cluster; without it they are not served. */
  readonly connect?: ConnectParts
  /** Group versions that other servers answer; without it there are none. */
  readonly aggregation?: Aggregation
  /** Something broke that no client can cause. */
  readonly report: (message: string, error: unknown) => void
  readonly monotonicMs: () => number
  readonly newAuditId: () => string
  /** Aborted once the server stops: watches end. */
  readonly stopping: AbortSignal
}

/** What is measured in the middle of a request. */
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
  /** Whether this handler answers the path. */
  readonly matches: (path: string) => boolean
  handle(exchange: Exchange): void | Promise<void>
}

export interface Observer {
  /** The request is authenticated and about to be authorised. */
  begin?(exchange: Exchange): void | Promise<void>
  /** The request is rejected, perhaps before it began: sets or omits its audit ID. */
  refusing?(exchange: Exchange): void
  /** A long answer has begun. */
  started?(exchange: Exchange): void
  /** The answer is complete, or the client is gone. */
  end?(exchange: Exchange): void
}
