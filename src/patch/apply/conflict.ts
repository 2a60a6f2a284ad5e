/**
 * The fields of other managers that an apply would change, and the response: 409 with one cause per
 * field.
 *
 * Up to 1.28 kube-apiserver reuses the memory of conflict paths. So sibling fields at a depth of 4,
 * 6, 7 … elements are all reported with the name of the last one. Clients see these names, so
 * `listed` reproduces them: it grows its paths like Go grows a slice.
 */
import { goQuote } from '#api/go-syntax.ts'
import { ApiError, type StatusCause } from '#api/status-error.ts'
import { type FieldSet, hasChildren, isMember, setOfPaths } from './field-set.ts'
import { managerOf } from './managed-fields.ts'
import { elementText } from './path-element.ts'
import type { ApplyRules } from './rules.ts'

export interface Conflict {
  /** The manager that owns the field. */
  readonly manager: string
  /** The path elements to the field. */
  readonly path: readonly string[]
}

/** `owners`: the fields that each manager would lose. */
export function conflictsOf(
  owners: ReadonlyMap<string, FieldSet>,
  { copiesConflictPaths }: ApplyRules,
): Conflict[] {
  const conflicts: Conflict[] = []
  for (const manager of [...owners.keys()].sort()) {
    for (const path of listed(owners.get(manager) as FieldSet, copiesConflictPaths))
      conflicts.push({ manager, path })
  }
  return conflicts
}

/** A Go slice: appending writes into the shared array while it has room. */
interface Slice {
  readonly array: string[]
  readonly length: number
  readonly capacity: number
}

function append({ array, length, capacity }: Slice, element: string, copies: boolean): Slice {
  if (!copies && length < capacity) {
    array[length] = element
    return { array, length: length + 1, capacity }
  }
  const grown = [...array.slice(0, length), element]
  return { array: grown, length: length + 1, capacity: Math.max(1, capacity * 2) }
}

function listed(set: FieldSet, copies: boolean): string[][] {
  const slices: Slice[] = []
  const visit = (level: FieldSet, prefix: Slice): void => {
    for (const element in level) {
      if (element !== '.' && isMember(level[element] as FieldSet))
        slices.push(append(prefix, element, copies))
    }
    for (const element in level) {
      const subtree = level[element] as FieldSet
      if (element !== '.' && hasChildren(subtree)) visit(subtree, append(prefix, element, copies))
    }
  }
  visit(set, { array: [], length: 0, capacity: 0 })
  return slices.map(({ array, length }) => array.slice(0, length))
}

export const conflictingSet = (conflicts: readonly Conflict[]): FieldSet =>
  setOfPaths(conflicts.map(({ path }) => path))

const pathText = (path: readonly string[]): string =>
  path.map((element) => elementText(element)).join('')

/** `"kubectl" with subresource "status" using apps/v1` */
function managerText(identity: string): string {
  const { manager, operation, apiVersion, subresource } = managerOf(identity)
  const name =
    subresource === ''
      ? goQuote(manager)
      : `${goQuote(manager)} with subresource ${goQuote(subresource)}`
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

export function conflictMessage(conflicts: readonly Conflict[]): string {
  const [only] = conflicts
  if (only !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(only.manager)}: ${pathText(only.path)}`
  }
  const byManager = Map.groupBy(conflicts, ({ manager }) => manager)
  const lines = [...byManager.keys()]
    .sort()
    .flatMap((manager) => [
      `conflicts with ${managerText(manager)}:`,
      ...(byManager.get(manager) ?? []).map(({ path }) => `- ${pathText(path)}`),
    ])
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

const conflictCauses = (conflicts: readonly Conflict[]): StatusCause[] =>
  conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(manager)}`,
    field: pathText(path),
  }))

export const applyConflict = (conflicts: readonly Conflict[]): ApiError =>
  new ApiError(409, 'Conflict', conflictMessage(conflicts), { causes: conflictCauses(conflicts) })
