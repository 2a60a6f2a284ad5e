/**
 * The requests to a committer and its replies. Each transaction has one reply, with results in the
 * order of the requests. The server's thread calls the committer directly, or sends messages to the
 * writer thread.
 */
import type { Revision } from '#storage/storage.ts'

/**
 * Numbers per write in `WriteRequest.numbers`: ifRevision, size of the value, deadline, time to
 * live.
 */
export const numbersPerWrite = 4

/** As a size: the write is a deletion. */
export const deletion = -1

export interface QueuedWrite {
  readonly kind: 'write'
  readonly keys: string[]
  readonly numbers: Float64Array
  /** The concatenated values. */
  readonly bytes: Uint8Array
}

export type Request =
  | QueuedWrite
  /** Delete expired keys. */
  | { readonly kind: 'expire'; readonly now: number }
  /** The clock was adjusted: shift every deadline by this much. */
  | { readonly kind: 'shift'; readonly byMs: number }
  /**
   * The clock may have been set back while the server was down: no deadline may be later than now
   * plus its time to live.
   */
  | { readonly kind: 'settle'; readonly now: number }
  | { readonly kind: 'compact'; readonly upTo: Revision }
  /** Check whether the disk accepts writes again. */
  | { readonly kind: 'probe' }

/** Requests outside a transaction, only for the writer thread. */
export type Order =
  /** Copy the log into the database. */
  | { readonly kind: 'checkpoint' }
  /** Copy the log and truncate its file. */
  | { readonly kind: 'empty log' }
  | { readonly kind: 'close' }

export interface Message {
  readonly what: Request | Order
  /** The newest revision known to the sender, which may have written itself. */
  readonly newest: Revision
}

export interface Refused {
  /** The index of the rejected write in its request. */
  readonly index: number
  readonly revision: Revision
  readonly bytes: Uint8Array | undefined
}

export interface WriteAnswer {
  /** The revision of each write; 0 for a rejected one. */
  readonly revisions: Float64Array
  readonly refused: Refused[]
}

export interface ExpireAnswer {
  readonly keys: string[]
  readonly revisions: Revision[]
  readonly nextDeadline: number | undefined
}

export type CommitAnswer = WriteAnswer | ExpireAnswer | undefined

/** The result of a transaction. */
export type Reply =
  | { readonly kind: 'committed'; readonly answers: CommitAnswer[] }
  /**
   * The transaction with the next `count` requests was rolled back, or did not begin because
   * another connection is writing.
   */
  | {
      readonly kind: 'failed'
      readonly count: number
      readonly message: string
      readonly isBusy: boolean
    }

/** Replies of the writer thread about the database: opened, failed to open, closed. */
export type ThreadReply =
  | Reply
  | { readonly kind: 'opened' }
  | { readonly kind: 'unopened'; readonly message: string }
  | { readonly kind: 'closed' }

export interface WriterOptions {
  readonly file: string
  /** The log is copied into the database at this size. */
  readonly checkpointBytes: number
}

/** The values in one transaction; with more, the first write would wait too long. */
const transactionBytesMost = 16 * 1024 * 1024

/**
 * A transaction must fit in the log before the log can be copied, and values are about half of it.
 */
const transactionShare = 1 / 4

export const transactionBytesMax = ({ checkpointBytes }: WriterOptions): number =>
  Math.min(transactionBytesMost, checkpointBytes * transactionShare)
