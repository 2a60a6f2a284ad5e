/** Converts errors of etcd and of gRPC to the errors of the storage contract. */
import { type ServiceError, status } from '@grpc/grpc-js'
import {
  type Revision,
  RevisionCompacted,
  RevisionInFuture,
  StorageUnavailable,
} from '#storage/storage.ts'

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error
}

export function isCompacted(error: unknown): boolean {
  return isServiceError(error) && error.details.includes('required revision has been compacted')
}

function isFuture(error: unknown): boolean {
  return isServiceError(error) && error.details.includes('required revision is a future revision')
}

export function isLeaseMissing(error: unknown): boolean {
  return isServiceError(error) && error.details.includes('requested lease not found')
}

/** Whether the request certainly did not reach a server. */
export function isUnsent(error: unknown): boolean {
  return isServiceError(error) && error.details.startsWith('No connection established')
}

export function isLeaseTaken(error: unknown): boolean {
  return isServiceError(error) && error.details.includes('lease already exists')
}

/** The gRPC library's messages for a connection that broke before the response was complete. */
const cutOff = /RST_STREAM|^Call cancelled$|^No status information received$/

/** Whether another server, or the same server later, may answer the request. */
export function isAway(error: unknown): boolean {
  if (!isServiceError(error)) return false
  if (error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED) return true
  return cutOff.test(error.details)
}

const isCancelled = (error: unknown): boolean =>
  isServiceError(error) && error.code === status.CANCELLED

/**
 * Whether a failed write may have been done: the connection broke, etcd lost its leader, or the
 * store was closed.
 */
export const isUnknown = (error: unknown): boolean =>
  (isAway(error) || isCancelled(error)) && !isUnsent(error)

/** The gRPC library's text around the reason for a missing connection. */
const noConnection =
  /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note: *$/s

/**
 * `etcd (http://127.0.0.1:2379) cannot be used: no connection: connect ECONNREFUSED 127.0.0.1:2379`
 */
export function describeFailure(error: unknown, endpoints: string): string {
  const words = isServiceError(error) ? error.details : (error as Error).message
  return `etcd (${endpoints}) cannot be used: ${words.replace(noConnection, 'no connection: $1')}`
}

/** Converts the error of a request, which may have specified the revision `at`. */
export function translate(
  error: unknown,
  endpoints: string,
  at: Revision | undefined,
  known: { newest: Revision; compacted: Revision },
): Error {
  if (error instanceof StorageUnavailable || error instanceof RevisionInFuture) return error
  if (isCompacted(error)) return new RevisionCompacted(Math.max(known.compacted, (at ?? 0) + 1))
  if (isFuture(error)) return new RevisionInFuture(known.newest)
  return new StorageUnavailable(describeFailure(error, endpoints), { cause: error })
}
