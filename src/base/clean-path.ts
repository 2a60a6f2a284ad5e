/** Paths as Go's `path.Clean` leaves them: one slash between, none at the end, and no dots. */
import { posix } from 'node:path'

export const cleanPath = (path: string): string => posix.normalize(path).replace(/(?<=.)\/$/, '')
