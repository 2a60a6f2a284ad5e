/**
 * The differences between two values of a Go type, field by field, for messages:
 *
 *     core.PersistentVolumeClaimSpec{
 *   -   volumeName: "b",
 *   +   volumeName: "a",
 *     }
 */
import { goUntyped } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { samePart, sortedKeys } from './checks.ts'

export function goDifference(type: string, next: Loose, old: Loose): string {
  const lines = [`  ${type}{`]
  for (const key of sortedKeys({ ...next, ...old })) {
    if (samePart(next[key], old[key])) continue
    if (next[key] !== undefined) lines.push(`- \t${key}: ${goUntyped(next[key])},`)
    if (old[key] !== undefined) lines.push(`+ \t${key}: ${goUntyped(old[key])},`)
  }
  return [...lines, '  }', ''].join('\n')
}
