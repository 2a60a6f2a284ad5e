/**
 * Normalises paths like Go's `path.Clean`: no repeated slashes, no trailing slash, and no dot
 * segments.
 */
import { posix } from 'node:path'

export const cleanPath = (path: string): string => posix.normalize(path).replace(/(?<=.)\/$/, '')
