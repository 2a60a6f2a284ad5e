/**
 * How the store shares out the disk it is on. On a disk that only the store fills, enough of it is
 * kept to copy the log into the database, to forget history and to delete objects: so the store
 * gets out of a full disk by itself.
 *
 *   disk      log limit   kept      history is shortened when less than this is left
 *   32 MiB    1 MiB       3 MiB     6 MiB
 *   320 MiB   10 MiB      30 MiB    60 MiB
 *   larger    16 MiB      48 MiB    96 MiB
 *
 * A log is at most twice as long as its limit, and the database grows by at most as much when it is
 * copied.
 */
import { statfsSync, statSync } from 'node:fs'
import { logFileBytes } from './log-checkpoint.ts'

const mebibyte = 1024 * 1024

/** Below this a server keeps too little history to be of use. Decimal: disks are sold so. */
export const smallestDiskBytes = 32_000_000

/** Copying the log seldom is cheaper, reading it at start stays quick. */
const logBytesMax = 16 * mebibyte
/** Room for some writes at a time. */
const logBytesMin = mebibyte / 8
const logShare = 1 / 32

/** In lengths of the log: kept back, left for deletions alone, and when history is shortened. */
const reserveLogs = 3
const deletionLogs = 1
const shortLogs = 6

/** What the file system has left, in bytes; any amount where it does not say. */
export function freeBytes(file: string): number {
  const { bavail, bsize, blocks } = statfsSync(file)
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}

/** What a database and its log may fill: what they have and what is left. */
export function availableBytes(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return freeBytes(file) + size + logFileBytes(file)
}

export function logBytesFor(available: number): number {
  return Math.floor(Math.min(logBytesMax, Math.max(logBytesMin, available * logShare)))
}

/** What a store with such a log keeps free. */
export const sharesOf = (logBytes: number) => ({
  reserveBytes: logBytes * reserveLogs,
  deletionReserveBytes: logBytes * deletionLogs,
  shortBytes: logBytes * shortLogs,
})
