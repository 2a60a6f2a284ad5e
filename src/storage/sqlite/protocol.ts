/**
 * The requests to a committer and its replies: for every transaction one reply with the results in
 * the order of the requests. The server's thread calls it directly, or sends messages to the
 * writer's thread.
 */
import type { Revision } from '#storage/storage.ts'

/**
 * Numbers per write in `WriteRequest.numbers`: ifRevision, size of the value, deadline, time to
 * live.
 */
export const numbersPerWrite = 4

/** The size that stands for a deletion. */
export const deletion = -1

export interface QueuedWrite {
  readonly kind: 'write'
  readonly keys: string[]
  readonly numbers: Float64Array
  /** The values one after the other. */
  readonly bytes: Uint8Array
}

export type Request =
  | QueuedWrite
  /** Delete what has reached its deadline. */
  | { readonly kind: 'expire'; readonly now: number }
  /** The clock was set: move every deadline with it. */
  | { readonly kind: 'shift'; readonly byMs: number }
  /**
   * The clock may have been set back while the server was away: no deadline is further off than its
   * time to live.
   */
  | { readonly kind: 'settle'; readonly now: number }
  | { readonly kind: 'compact'; readonly upTo: Revision }
  /** See whether the disk takes writes again. */
  | { readonly kind: 'probe' }

/** Requests outside a transaction, which only the writer's thread gets. */
export type Order =
  /** Copy the log into the database. */
  | { readonly kind: 'checkpoint' }
  /** The same, and make its file empty. */
  | { readonly kind: 'empty log' }
  | { readonly kind: 'close' }

export interface Message {
  readonly what: Request | Order
  /** The newest revision the sender knows: it may have written itself. */
  readonly newest: Revision
}

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

export type CommitAnswer = WriteAnswer | ExpireAnswer | undefined

/** How a transaction ended. */
export type Reply =
  | { readonly kind: 'committed'; readonly answers: CommitAnswer[] }
  /**
   * The transaction of the next `count` requests was rolled back, or never began because another
   * connection is writing.
   */
  | {
      readonly kind: 'failed'
      readonly count: number
      readonly message: string
      readonly isBusy: boolean
    }

/**
 * What else the writer's thread says: the database is open for writing, or could not be opened, or
 * is closed.
 */
export type ThreadReply =
  | Reply
  | { readonly kind: 'opened' }
  | { readonly kind: 'unopened'; readonly message: string }
  | { readonly kind: 'closed' }

export interface WriterOptions {
  readonly file: string
  /** How much may be logged before it is copied into the database. */
  readonly checkpointBytes: number
}

/** Values in one transaction: beyond it the first of them would wait too long for the last. */
const transactionBytesMost = 16 * 1024 * 1024

/**
 * The log grows by a transaction before it can be copied, and values are about half of what is
 * logged.
 */
const transactionShare = 1 / 4

export const transactionBytesMax = ({ checkpointBytes }: WriterOptions): number =>
  Math.min(transactionBytesMost, checkpointBytes * transactionShare)
