/**
 * One request and its response, for any version of HTTP. Each filter adds its results as fields.
 * Verbs never get an exchange.
 */
import type { X509Certificate } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import type { User } from '#access/user.ts'
import type { ApiError } from '#api/status-error.ts'
import type { Awaitable } from '#base/awaitable.ts'
import type { AcceptRules } from '#codec/accept-header.ts'
import type { Kind } from '#kinds/kind.ts'
import type { KnownTypes } from '#kinds/known-type.ts'
import type { Answer } from '#verbs/answer.ts'
import type { RequestTarget } from '#http/request/request-target.ts'

export type Headers = Readonly<Record<string, string | string[] | undefined>>
export type AnswerHeaders = Record<string, string | number | readonly string[]>

/**
 * The bytes of a streamed response. If `write` returns false, the caller awaits `drained` before it
 * writes more.
 */
export interface Sink {
  write(bytes: Buffer): boolean
  /** Writes several pieces without joining them. */
  writeAll?(pieces: readonly Buffer[]): boolean
  drained(): Promise<void>
  end(): void
  /** Breaks the response off, so that the client does not take a part for the whole. */
  abort?(): void
  readonly closed: boolean
  /** Called once when the sink is closed. */
  onClose?(listener: () => void): void
}

export interface ClientCertificates {
  readonly leaf: X509Certificate
  /** The other certificates of the client's chain. */
  readonly intermediates: readonly X509Certificate[]
}

/** What the listener provides: the transport, without knowledge of Kubernetes. */
export interface Wire {
  readonly method: string
  /** Path and query as sent. A router in front of the server may remove the first segments. */
  url: string
  readonly headers: Headers
  readonly remoteAddress: string
  /** A repeated header has an array of values here. Computed on first use. */
  readonly separateHeaders: Headers
  /** Parsed on first use, not verified. */
  clientCertificate(): ClientCertificates | undefined
  /**
   * Reads the whole body; synchronous if it has already arrived. Throws 413 if it exceeds the
   * limit.
   */
  readBody(limitBytes: number): Awaitable<Buffer>
  /** The body as a stream, for handlers that forward it; undefined if the request has no body. */
  bodyStream?(): Readable | undefined
  /** The socket of a client that requests an upgrade. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer }
  answer(status: number, headers: AnswerHeaders, body: Buffer | undefined): void
  /** Sends several buffers as one body without copying them. */
  answerPieces(status: number, headers: AnswerHeaders, pieces: readonly Buffer[]): void
  stream(status: number, headers: AnswerHeaders): Sink
  /** Whether much of the response still waits for the client to read it. */
  readonly isWaiting?: boolean
  /** Called once when the client has received the response or has disconnected. */
  onClose?(listener: () => void): void
  /** Breaks the response off. */
  abort?(): void
  /**
   * If the protocol supports it, announces that the connection accepts no new requests. It closes
   * after the current ones.
   */
  goAway?(): void
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** A seat of priority and fairness: the right to run. */
export interface Seat {
  /** Headers that name the flow schema and the priority level of the request. */
  readonly headers: AnswerHeaders | undefined
  /** Releases the seat; further calls do nothing. */
  release(): void
}

export interface Exchange {
  readonly wire: Wire
  readonly target: RequestTarget
  readonly query: URLSearchParams
  readonly auditId: string
  /** The time of arrival, in monotonic milliseconds. */
  readonly startedAt: number
  /** The client's deadline, if it has one. */
  deadlineAt: number | undefined
  user: User
  /** The authenticated user, if `user` is impersonated. */
  impersonator: User | undefined
  /** The verb of the constrained mode that allowed the impersonation; empty for other modes. */
  impersonationConstraint: string
  /** Texts for the Warning header. */
  readonly warnings: string[]
  readonly auditAnnotations: Map<string, string>
  /** Releases before 1.16 sent no cache headers. */
  readonly omitsCacheHeaders?: boolean
  /** Faults of the body that strict validation reports and that only its decoder can find. */
  strictFaults?: readonly string[]
  /** Older rules for reading the Accept header; undefined for the current rules. */
  readonly acceptRules?: AcceptRules
  /** Since 1.24 the status and scale subresources support tables. */
  readonly tablesOfSubresources?: boolean
  /** Since 1.25 the router's 406 lists the types that it can serve. */
  readonly namesRepresentations?: boolean
  /** Releases before 1.22 sent the audit ID only for requests in the audit log. */
  readonly sendsAuditIdIfAudited?: boolean
  /** The body, once it has been read. */
  body: Buffer | undefined
  /** The types that can decode the body, once it has been read. */
  types?: KnownTypes | undefined
  /** The requested kind, once the route is found. */
  kind: Kind | undefined
  /** The response or the error, its status and its size, for the audit log and the metrics. */
  answer: Answer | undefined
  refusal: ApiError | undefined
  /** The internal error that failed the request, if any. */
  defect: unknown
  status: number
  answeredBytes: number
  /** State of the observers between `begin` and `end`. */
  seat: Seat | undefined
  running: { value: number; add(amount: number): void } | undefined
  record: { readonly isKept: boolean } | undefined
  /** The response is sent and observed, or the request was given up. */
  over: boolean
}
