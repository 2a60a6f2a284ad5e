/**
 * Validation of updates to pods that are not scheduled yet: scheduling gates may be removed, and
 * node affinity may become stricter.
 */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'

const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
const termType = 'io.k8s.api.core.v1.NodeSelectorTerm'

export function checkOnlyDeletedGates(
  next: Loose[] | null | undefined,
  old: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  const before = new Set((old ?? []).map(({ name }) => name))
  // If several gates have one name, the error refers to the last one.
  const places = new Map((next ?? []).map(({ name }, i) => [name, i]))
  return [...places].flatMap(([name, i]) =>
    before.has(name)
      ? []
      : [
          forbidden(
            path.index(i).child('name'),
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  )
}

/**
 * Checks changes of node selector and affinity, and undoes them in the copy that is compared with
 * the old pod.
 */
export function keepScheduling(kept: Loose, old: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!samePart(kept.nodeSelector, old.nodeSelector)) {
    errors.push(...checkSelector(kept.nodeSelector ?? {}, old.nodeSelector ?? {}, path))
    kept.nodeSelector = old.nodeSelector
  }
  const [before, after] = [old.affinity?.nodeAffinity, kept.affinity?.nodeAffinity]
  if (samePart(after, before)) return errors
  errors.push(...checkTerms(after, before, path.child('affinity', 'nodeAffinity', needed)))
  const { podAffinity, podAntiAffinity } = kept.affinity ?? {}
  if (!old.affinity && !podAffinity && !podAntiAffinity) delete kept.affinity
  else kept.affinity = { ...kept.affinity, nodeAffinity: before }
  return errors
}

function checkSelector(next: Loose, old: Loose, path: FieldPath): FieldError[] {
  const isKept = Object.keys(old).every((key) => Object.hasOwn(next, key) && next[key] === old[key])
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
  return isKept ? [] : [invalid(path.child('nodeSelector'), next, detail)]
}

/** The number of terms must not change. Each term may only become stricter. */
function checkTerms(
  next: Loose | undefined,
  old: Loose | undefined,
  path: FieldPath,
): FieldError[] {
  if (!old?.[needed]) return []
  const before: Loose[] = old[needed].nodeSelectorTerms ?? []
  const after: Loose[] | undefined = next?.[needed]?.nodeSelectorTerms ?? undefined
  const at = path.child('nodeSelectorTerms')
  if (before.length > 0 && before.length !== (after ?? []).length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'
    return [invalid(at, internalValue(termType, after), detail)]
  }
  return before.flatMap((term, i) => {
    const now = (after as Loose[])[i] as Loose
    if (hasOnlyAdditions(now, term)) return []
    const detail = 'only additions are allowed (no mutations or deletions)'
    return [invalid(at.index(i), internalValue(termType, now), detail)]
  })
}

/** A term without requirements matches nothing, so it may not get any. */
function hasOnlyAdditions(next: Loose, old: Loose): boolean {
  const lists = ['matchExpressions', 'matchFields']
  const lengthOf = (term: Loose, list: string): number => term[list]?.length ?? 0
  if (lists.every((list) => lengthOf(old, list) === 0)) {
    return lists.every((list) => lengthOf(next, list) === 0)
  }
  return lists.every((list) => {
    const count = lengthOf(old, list)
    return count === 0 || samePart((next[list] ?? []).slice(0, count), old[list])
  })
}
