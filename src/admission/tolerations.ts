/**
 * Merges two lists of tolerations without redundant entries, and checks whether one list is a
 * subset of another.
 */
import type { Loose } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'

export function mergeTolerations(first: Loose[] = [], second: Loose[] = []): Loose[] {
  const all = [...first, ...second]
  const merged: Loose[] = []
  for (const [i, one] of all.entries()) {
    if (merged.some((other) => covers(other, one))) continue
    if (all.slice(i + 1).some((other) => !semanticEqual(one, other) && covers(other, one))) continue
    merged.push(one)
  }
  return merged
}

/** An empty list allows everything. */
export function withinTolerations(tolerations: Loose[] = [], allowed: Loose[] = []): boolean {
  if (allowed.length === 0) return true
  return tolerations.every((one) => allowed.some((other) => covers(other, one)))
}

/** Whether the wide toleration tolerates everything that the narrow one does. */
function covers(wide: Loose, narrow: Loose): boolean {
  if (semanticEqual(wide, narrow)) return true
  if ((narrow.key ?? '') !== (wide.key ?? '') && (wide.key || wide.operator !== 'Exists'))
    return false
  if ((narrow.effect ?? '') !== (wide.effect ?? '') && wide.effect) return false
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined) return false
    if (narrow.tolerationSeconds > wide.tolerationSeconds) return false
  }
  if (wide.operator === 'Exists') return true
  if (wide.operator && wide.operator !== 'Equal') return false
  return narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '')
}
