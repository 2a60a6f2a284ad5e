/** When the file of the audit log is rotated, and how long rotated files are kept. */
import { change, type Release } from '#api/releases/change.ts'

const limitsRotatedFiles = change(
  'rotated files of the audit log are kept for 366 days, at most a hundred',
  { since: 36 },
)

const megabyte = 1024 * 1024
const dayMs = 24 * 3600 * 1000
/** The default maximum size, so that a log file never grows without limit. */
const sizeMegabytesDefault = 100

/** The flags of the rotation; undefined if the operator left them out. */
export interface RotationFlags {
  readonly auditLogMaxsize: number | undefined
  readonly auditLogMaxbackup: number | undefined
  readonly auditLogMaxage: number | undefined
}

/** 0 keeps all files, or keeps them forever. */
export interface Rotation {
  readonly sizeBytesMax: number
  readonly backupsMax: number
  readonly ageMsMax: number
}

export function rotationOf(flags: RotationFlags, release: Release): Rotation {
  const [backups, days] = release.has(limitsRotatedFiles) ? [100, 366] : [0, 0]
  return {
    sizeBytesMax: (flags.auditLogMaxsize || sizeMegabytesDefault) * megabyte,
    backupsMax: flags.auditLogMaxbackup ?? backups,
    ageMsMax: (flags.auditLogMaxage ?? days) * dayMs,
  }
}
