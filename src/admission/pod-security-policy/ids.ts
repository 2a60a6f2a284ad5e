/**
 * User and group ids: default ids for pods without any, and validation against the allowed ranges.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { asGo } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'

const shown = (ranges: Loose[]) =>
  `[${ranges.map(({ min, max }) => `{${min ?? 0} ${max ?? 0}}`).join(' ')}]`

const inRanges = (id: number, ranges: Loose[]) =>
  ranges.some(({ min = 0, max = 0 }) => id >= min && id <= max)

/** The start of the first range, if an ID must be chosen. */
export const defaultIdOf = (strategy: Loose | undefined): number | undefined =>
  strategy?.rule === 'MustRunAs' ? (strategy.ranges?.[0]?.min ?? 0) : undefined

const goInts = (ids: readonly number[] | undefined) =>
  asGo(ids === undefined ? '[]int64(nil)' : `[]int64{${ids.join(', ')}}`)

export function groupProblems(
  strategy: Loose | undefined,
  path: string,
  groups: number[] | undefined,
): FieldError[] {
  if (strategy === undefined || strategy.rule === 'RunAsAny') return []
  const ranges: Loose[] = strategy.ranges ?? []
  const errors: FieldError[] = []
  if (strategy.rule === 'MustRunAs' && (groups?.length ?? 0) === 0 && ranges.length > 0) {
    errors.push(
      invalid(path, goInts(groups), 'unable to validate empty groups against required ranges'),
    )
  }
  for (const group of groups ?? []) {
    if (inRanges(group, ranges)) continue
    errors.push(
      invalid(path, goInts(groups), `group ${group} must be in the ranges: ${shown(ranges)}`),
    )
  }
  return errors
}

export function userProblems(
  strategy: Loose,
  path: string,
  user: number | undefined,
  nonRoot: boolean | undefined,
): FieldError[] {
  if (strategy.rule === 'MustRunAs') {
    if (user === undefined) return [required(`${path}.runAsUser`)]
    const ranges: Loose[] = strategy.ranges ?? []
    return inRanges(user, ranges)
      ? []
      : [invalid(`${path}.runAsUser`, user, `must be in the ranges: ${shown(ranges)}`)]
  }
  if (strategy.rule !== 'MustRunAsNonRoot') return []
  if (nonRoot === undefined && user === undefined)
    return [required(`${path}.runAsNonRoot`, 'must be true')]
  if (nonRoot === false) return [invalid(`${path}.runAsNonRoot`, false, 'must be true')]
  if (user === 0) return [invalid(`${path}.runAsUser`, 0, 'running with the root UID is forbidden')]
  return []
}
