/**
 * How the store divides its disk. If only the store uses the disk, the reserve suffices to copy the
 * log, to compact and to delete objects. So the store recovers from a full disk by itself.
 *
 *   disk      log limit   reserve   history is compacted when less than this is left
 *   32 MiB    1 MiB       3 MiB     6 MiB
 *   320 MiB   10 MiB      30 MiB    60 MiB
 *   larger    16 MiB      48 MiB    96 MiB
 *
 * A log reaches at most twice its limit, and copying it enlarges the database by at most as much.
 */
import { statfsSync, statSync } from 'node:fs'
import { logFileBytes } from './log-checkpoint.ts'

const mebibyte = 1024 * 1024

/** On a smaller disk the history is too short to be useful. Decimal, like the sizes of disks. */
export const smallestDiskBytes = 32_000_000

/** Rare copies of the log are cheaper, but a long log delays the start. */
const logBytesMax = 16 * mebibyte
/** Space for several writes at a time. */
const logBytesMin = mebibyte / 8
const logShare = 1 / 32

/**
 * Multiples of the log's limit: the reserve, the reserve for deletions, and the limit below which
 * history is compacted.
 */
const reserveLogs = 3
const deletionLogs = 1
const shortLogs = 6

/** The free bytes of the file system; infinite if it reports no size. */
export function freeBytes(file: string): number {
  const { bavail, bsize, blocks } = statfsSync(file)
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}

/** The bytes that the database and its log may use: their current sizes plus the free space. */
export function availableBytes(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return freeBytes(file) + size + logFileBytes(file)
}

export function logBytesFor(available: number): number {
  return Math.floor(Math.min(logBytesMax, Math.max(logBytesMin, available * logShare)))
}

/** The space that a store with this log limit keeps free. */
export const sharesOf = (logBytes: number) => ({
  reserveBytes: logBytes * reserveLogs,
  deletionReserveBytes: logBytes * deletionLogs,
  shortBytes: logBytes * shortLogs,
})
