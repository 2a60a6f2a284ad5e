/** The defaults of the audit log's rotation depend on the release; a flag overrides them. */
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import { type RotationFlags, rotationOf } from './audit-rotation.ts'

const unset: RotationFlags = {
  auditLogMaxsize: undefined,
  auditLogMaxbackup: undefined,
  auditLogMaxage: undefined,
}
const zero: RotationFlags = { auditLogMaxsize: 0, auditLogMaxbackup: 0, auditLogMaxage: 0 }
const some: RotationFlags = { auditLogMaxsize: 1, auditLogMaxbackup: 2, auditLogMaxage: 3 }

const dayMs = 86_400_000
const size = 104_857_600
const forever = { sizeBytesMax: size, backupsMax: 0, ageMsMax: 0 }
const given = { sizeBytesMax: 1_048_576, backupsMax: 2, ageMsMax: 3 * dayMs }

checkBoundaries(
  (release, flags: RotationFlags) => rotationOf(flags, releaseOf(release)),
  [
    [
      'without flags',
      [35, 36],
      unset,
      forever,
      { sizeBytesMax: size, backupsMax: 100, ageMsMax: 366 * dayMs },
    ],
    ['zero keeps all', [35, 36], zero, forever, forever],
    ['flags', [35, 36], some, given, given],
  ],
)
