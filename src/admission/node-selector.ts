/**
 * Whether a node matches a node selector: at least one term must match with all its requirements.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { matchesRequirement } from '#api/label-requirement.ts'

const operators: Readonly<Record<string, 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
}

export function matchesNodeSelector(
  { nodeSelectorTerms }: Loose,
  { metadata }: KubeObject,
): boolean {
  const fields = { 'metadata.name': metadata.name ?? '' }
  return ((nodeSelectorTerms ?? []) as Loose[]).some((term) => {
    const labels: Loose[] = term.matchExpressions ?? []
    const names: Loose[] = term.matchFields ?? []
    // A term without requirements matches no node.
    if (labels.length + names.length === 0) return false
    return (
      labels.every((one) => isMet(one, metadata.labels)) && names.every((one) => isMet(one, fields))
    )
  })
}

function isMet(
  { key, operator, values = [] }: Loose,
  labels: Record<string, string> | undefined,
): boolean {
  const known = operators[operator]
  return known !== undefined && matchesRequirement({ key, operator: known, values }, labels)
}
