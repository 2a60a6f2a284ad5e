/** Declarative rules about the presence of a value and its changes. */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { type DeclaredCheck, from, isEmpty, isZero, type Spot, type CheckedValue } from './check.ts'
import { finder, type Match } from './match.ts'

const onEmpty =
  (
    isMissing: (value: unknown) => boolean,
    errorOf: (path: FieldPath) => FieldError,
  ): DeclaredCheck =>
  ({ value, path }) =>
    isMissing(value) ? [errorOf(path)] : []

const isNil = (value: unknown): boolean => value === undefined || value === null
const missing = (path: FieldPath): FieldError => required(path)
const onPresence =
  (isMissing: (value: unknown) => boolean): DeclaredCheck =>
  ({ value, path }) =>
    isMissing(value) ? [] : [forbidden(path, '')]

/**
 * Checks by rule name. As in Kubernetes' validation functions, `optional` yields the same error as
 * `required`. Rows of optional rules have the marks `q` and `s`: the compiled rule drops the error
 * and skips the other checks of the value (compile.ts).
 */
export const presence: ReadonlyMap<string, DeclaredCheck> = new Map(
  (
    [
      ['Value', isZero],
      ['Pointer', isNil],
      ['Slice', isEmpty],
      ['Map', isEmpty],
    ] as const
  ).flatMap(([suffix, isMissing]): [string, DeclaredCheck][] => [
    [`required${suffix}`, onEmpty(isMissing, missing)],
    [`optional${suffix}`, onEmpty(isMissing, missing)],
    [`forbidden${suffix}`, onPresence(isMissing)],
  ]),
)

/** Called only if the field has changed, so every update is a violation. */
export const immutable: DeclaredCheck = ({ isUpdate, path }) =>
  isUpdate ? [from('immutable', invalid(path, undefined, immutableMessage))] : []

export const monotonic: DeclaredCheck = ({ isUpdate, path, value, old }) =>
  isUpdate && value !== undefined && old !== undefined && value < old
    ? [from('monotonic', invalid(path, value, `may not be decreased from ${old}`))]
    : []

const cannotBeSet = 'field cannot be set once created'
const cannotBeCleared = 'field cannot be cleared once set'
const cannotBeModified = 'field cannot be modified once set'

/** Which of the ways to change a value a field allows. */
export function updateCheck(
  isMissing: (value: unknown) => boolean,
  constraints: readonly string[],
  match?: Match,
): DeclaredCheck {
  return (spot) =>
    spot.isUpdate ? constraints.flatMap((one) => changeErrors(spot, isMissing, one, match)) : []
}

function changeErrors(
  { path, value, old }: Spot,
  isMissing: (value: unknown) => boolean,
  constraint: string,
  match: Match | undefined,
): FieldError[] {
  const [now, before] = [!isMissing(value), !isMissing(old)]
  const wrong = (detail: string) => [from('update', invalid(path, undefined, detail))]
  if (constraint === 'noSet') return now && !before ? wrong(cannotBeSet) : []
  if (constraint === 'noUnset') return before && !now ? wrong(cannotBeCleared) : []
  if (constraint === 'noModify') return now && before ? wrong(cannotBeModified) : []
  if (match === undefined) return []
  return constraint === 'noAddItem'
    ? newItems(value, old, match).map((i) =>
        from('update', forbidden(path.index(i), 'item may not be added')),
      )
    : newItems(old, value, match).map(() =>
        from('update', forbidden(path, 'item may not be removed')),
      )
}

/** The indices of the items that are missing in the other list. */
function newItems(list: CheckedValue[] = [], other: CheckedValue[] = [], match: Match): number[] {
  const find = finder(other, match)
  return [...list.keys()].filter((i) => find(list[i]) === undefined)
}
