/**
 * What the server's thread and the writer's thread say to each other: requests one way, and for every transaction one
 * message back with the answers in the order of the requests.
 */
import type { Revision } from '#storage/storage.ts'

/** Numbers per write in `WriteRequest.numbers`: ifRevision, size of the value, deadline, time to live. */
export const numbersPerWrite = 4

/** The size that stands for a deletion. */
export const deletion = -1

export interface WriteRequest {
  readonly kind: 'write'
  readonly keys: string[]
  readonly numbers: Float64Array
  /** The values one after the other. */
  readonly bytes: Uint8Array
}

export type Request =
  | WriteRequest
  /** Delete what has reached its deadline. */
  | { readonly kind: 'expire'; readonly now: number }
  /** The clock was set: move every deadline with it. */
  | { readonly kind: 'shift'; readonly byMs: number }
  /** The clock may have been set back while the server was away: no deadline is further off than its time to live. */
  | { readonly kind: 'settle'; readonly now: number }
  | { readonly kind: 'compact'; readonly upTo: Revision }
  /** See whether the disk takes writes again. */
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' }

export interface Refused {
  /** Which write of the request. */
  readonly index: number
  readonly revision: Revision
  readonly bytes: Uint8Array | undefined
}

export interface WriteAnswer {
  /** The revision of each write; 0 for one that was refused. */
  readonly revisions: Float64Array
  readonly refused: Refused[]
}

export interface ExpireAnswer {
  readonly keys: string[]
  readonly revisions: Revision[]
  readonly nextDeadline: number | undefined
}

export type Answer = WriteAnswer | ExpireAnswer | undefined

export type Reply =
  /** The database could not be opened for writing; nothing else will be answered. */
  | { readonly kind: 'unopened'; readonly message: string }
  | { readonly kind: 'committed'; readonly answers: Answer[] }
  /** The transaction of the next `count` requests was rolled back. */
  | { readonly kind: 'failed'; readonly count: number; readonly message: string }
  | { readonly kind: 'closed' }

export interface WriterOptions {
  readonly file: string
  readonly checkpointBytes: number
}
