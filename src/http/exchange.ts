/**
 * One request and its answer, whichever HTTP it came by. Filters add what they learn; verbs never
 * see it.
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
import type { RequestTarget } from './request-target.ts'

export type Headers = Readonly<Record<string, string | string[] | undefined>>
export type AnswerHeaders = Record<string, string | number | readonly string[]>

/** The bytes of a long answer: what `write` answers says whether to wait for `drained`. */
export interface Sink {
  write(bytes: Buffer): boolean
  /** Several pieces at once, where they need not be joined before. */
  writeAll?(pieces: readonly Buffer[]): boolean
  drained(): Promise<void>
  end(): void
  /** Breaks the answer off, so that the client does not take its beginning for the whole. */
  abort?(): void
  readonly closed: boolean
  /** Called once when nothing can be written any more. */
  onClose?(listener: () => void): void
}

export interface ClientCertificates {
  readonly leaf: X509Certificate
  /** Further certificates of the chain the client sent. */
  readonly intermediates: readonly X509Certificate[]
}

/** What the listener gives: the wire, and nothing about Kubernetes. */
export interface Wire {
  readonly method: string
  /** Path and query as sent. A route in front of the server may cut off the beginning. */
  url: string
  readonly headers: Headers
  readonly remoteAddress: string
  /** Headers that came several times are several values here; made on first use. */
  readonly separateHeaders: Headers
  /** Parsed on first use, not verified. */
  clientCertificate(): ClientCertificates | undefined
  /** The whole body, at once where it has come; refuses one over the limit with 413. */
  readBody(limitBytes: number): Awaitable<Buffer>
  /** The body as it comes, for what passes it on unread; nothing where there is none. */
  bodyStream?(): Readable | undefined
  /** The connection itself, for a client that requests an upgrade. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer }
  answer(status: number, headers: AnswerHeaders, body: Buffer | undefined): void
  /** Several buffers as one body, none of them copied. */
  answerPieces(status: number, headers: AnswerHeaders, pieces: readonly Buffer[]): void
  stream(status: number, headers: AnswerHeaders): Sink
  /** Whether much of a whole answer still waits for the client to take it. */
  readonly isWaiting?: boolean
  /** Called once when the client has taken the answer, or is gone. */
  onClose?(listener: () => void): void
  /** Breaks the answer off. */
  abort?(): void
  /**
   * The connection takes no further requests, and ends after those under way, where the protocol
   * can announce that.
   */
  goAway?(): void
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
}

/** A place among the requests that may run at once. */
export interface Seat {
  /** Headers that name the rule by which the client was served. */
  readonly headers: AnswerHeaders | undefined
  /** Gives the place back; further calls do nothing. */
  release(): void
}

export interface Exchange {
  readonly wire: Wire
  readonly target: RequestTarget
  readonly query: URLSearchParams
  readonly auditId: string
  /** When it arrived, monotonic milliseconds. */
  readonly startedAt: number
  /** The client's deadline, if it has one. */
  deadlineAt: number | undefined
  user: User
  /** The authenticated user, if `user` is impersonated. */
  impersonator: User | undefined
  /** Texts for the Warning header. */
  readonly warnings: string[]
  readonly auditAnnotations: Map<string, string>
  /** Releases before 1.16 sent no cache headers. */
  readonly omitsCacheHeaders?: boolean
  /** What its body has that strict reading reports, where the format itself finds that out. */
  strictFaults?: readonly string[]
  /** How its Accept header is read, where not by the present rules. */
  readonly acceptRules?: AcceptRules
  /** Since 1.24 a status and a scale can be shown as tables. */
  readonly tablesOfParts?: boolean
  /** Since 1.25 a router that can serve no accepted type lists those it can. */
  readonly namesRepresentations?: boolean
  /** Releases before 1.22 sent the audit ID only for requests in the audit log. */
  readonly sendsAuditIdIfAudited?: boolean
  /** The body, once read. */
  body: Buffer | undefined
  /** The types that a body may be of, once it is read. */
  types?: KnownTypes | undefined
  /** The requested kind, once the route is found. */
  kind: Kind | undefined
  /**
   * What was answered, for the audit log and the metrics: the answer or the refusal, its status and
   * its size.
   */
  answer: Answer | undefined
  refusal: ApiError | undefined
  /** What went wrong in the server itself, where something did. */
  defect: unknown
  status: number
  answeredBytes: number
  /** What observers keep between begin and end. */
  seat: Seat | undefined
  running: { value: number; add(amount: number): void } | undefined
  record: { readonly isKept: boolean } | undefined
  /** Answered and observed, or given up. */
  over: boolean
}
