/** Checks the disk of a data directory: whether it accepts writes, and how much space is free. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { freeBytes, smallestDiskBytes } from '#storage/sqlite/disk-space.ts'
import type { Finding } from './finding.ts'

const area = 'disk'
/** A backup, and copying the log, need as much space as the database has. */
const roomFactor = 2

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`

export function checkDisk(directory: string, database: string): Finding[] {
  if (!existsSync(directory))
    return [{ level: 'ok', area, text: `${directory} does not exist: the first start makes it` }]
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
  } catch {
    const text = `${directory} cannot be written by this user: change its owner, or use another --data-dir`
    return [{ level: 'error', area, text }]
  }
  const free = freeBytes(directory)
  const size = statSync(database, { throwIfNoEntry: false })?.size ?? 0
  const found = `${megabytes(free)} are free, the database has ${megabytes(size)}`
  if (free + size < smallestDiskBytes)
    return [{ level: 'error', area, text: `${found}: make room, writes will be refused` }]
  if (free < size * roomFactor)
    return [{ level: 'warn', area, text: `${found}: make room for a backup and for growth` }]
  return [{ level: 'ok', area, text: found }]
}
