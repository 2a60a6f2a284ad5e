/** Messages about SQLite's errors for the operator of the server. */
import { StorageUnavailable } from '#storage/storage.ts'

/**
 * Primary result codes of SQLite. Extended codes contain them in their low byte, and are used if
 * they say more.
 */
const reasons = new Map<number, string>([
  [3, 'access to it was refused'],
  [5, 'it is locked by another process'],
  [8, 'it cannot be written (read-only)'],
  [10, 'the disk failed to read or write it'],
  [11, 'it is damaged'],
  [13, 'the disk is full'],
  [14, 'it cannot be opened'],
  [26, 'it is not a database'],
  // The index of the log could not be enlarged.
  [4874, 'the disk is full'],
])

/** The error that SQLite would report on a full disk. */
export const diskFull = { errcode: 13, message: 'what is left is kept for deletions' }

/** `the database /data/state.db cannot be used: the disk is full (database or disk is full)` */
export function describeFailure(error: unknown, file: string): string {
  const { message, errcode } = error as { message?: string; errcode?: number }
  const reason = reasons.get(errcode ?? 0) ?? reasons.get((errcode ?? 0) & 0xff)
  const words = message ?? String(error)
  return `the database ${file} cannot be used: ${reason ? `${reason} (${words})` : words}`
}

export function unavailable(error: unknown, file: string): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error
  return new StorageUnavailable(describeFailure(error, file), { cause: error })
}
