/**
 * Checks that many kinds share. They return field errors with Kubernetes' messages and do not
 * depend on a kind.
 */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { namesInOrder } from '#api/go-syntax.ts'
import { LabelSelectorError } from '#api/label-requirement.ts'
import { selectorOf } from '#api/label-selector.ts'
import { dns1123Label, dns1123Subdomain, qualifiedName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { compareQuantities } from '#api/quantity.ts'
import { change } from '#api/releases/change.ts'
import { parseTimestamp } from '#api/timestamp.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { textsWritten } from '#api/written-text.ts'
import { ownValue } from '#kinds/own-key.ts'

/** One `invalid` error for each problem of a value. */
export const each = (path: FieldPath, value: unknown, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => invalid(path, value, problem))

export const checkDns1123Label = (value: string, path: FieldPath): FieldError[] =>
  each(path, value, dns1123Label(value))
export const checkDns1123Subdomain = (value: string, path: FieldPath): FieldError[] =>
  each(path, value, dns1123Subdomain(value))
export const checkQualifiedName = (value: string, path: FieldPath): FieldError[] =>
  each(path, value, qualifiedName(value))

export const checkNotNegative = (value: number | undefined, path: FieldPath): FieldError[] =>
  (value ?? 0) < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []

/** Validates a required value from a list of allowed texts. */
export function checkOneOf(
  value: string | undefined,
  allowed: readonly string[],
  path: FieldPath,
): FieldError[] {
  if (value === undefined || value === '') return [required(path)]
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)]
}

const namesArePlainlyRequired = change(
  'errors of missing names of services and references do not say: is required',
  { since: 34 },
)

/** A missing name. `before` is the detail that older releases add. */
export const requiredPlainly = (path: FieldPath, before: string): FieldError => ({
  ...required(path),
  older: { before: namesArePlainlyRequired, error: required(path, before) },
})

/** The field must be set; an empty value counts as set. */
export const checkOneOfRequired = (
  value: string | undefined,
  allowed: readonly string[],
  path: FieldPath,
): FieldError[] => (value === undefined ? [required(path)] : checkOneOfIfSet(value, allowed, path))

/** If the field is set, it must have one of the allowed values. */
export const checkOneOfIfSet = (
  value: string | null | undefined,
  allowed: readonly string[],
  path: FieldPath,
): FieldError[] =>
  value === undefined || value === null || allowed.includes(value)
    ? []
    : [notSupported(path, value, allowed)]

/** Keys of a map in a fixed order, so that errors have one; in kube-apiserver it is random. */
export const sortedKeys = (map: object | null | undefined): string[] =>
  map === null || map === undefined ? [] : namesInOrder(map)

/** For each item of a list whether it was there before. */
export function repeats(list: readonly string[]): boolean[] {
  const seen = new Set<string>()
  return list.map((item) => {
    const isThere = seen.has(item)
    seen.add(item)
    return isThere
  })
}

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

/**
 * Whether two JSON values are equivalent. The order of keys does not matter; absent, null and empty
 * list are equal.
 */
export const sameJson = (next: unknown, old: unknown): boolean => same(next, old, noAmounts)

/** Like sameJson, but compares quantities as numbers: `1Gi` equals `1073741824`. */
export const samePart = (next: unknown, old: unknown): boolean => same(next, old, isAmount)

type IsAmount = (holder: string, field: string) => boolean
const noAmounts: IsAmount = () => false

/** Fields that contain quantities: `*` for all members, or the name of one member. */
const amountsIn: ReadonlyMap<string, string> = new Map([
  ['capacity', '*'],
  ['emptyDir', 'sizeLimit'],
  ['limits', '*'],
  ['overhead', '*'],
  ['requests', '*'],
  ['resourceFieldRef', 'divisor'],
])

export const isAmount: IsAmount = (holder, field) => {
  const which = amountsIn.get(holder)
  return which === '*' || which === field
}

/** Compares two values at `field` of a parent that is itself at field `holder`. */
function same(a: unknown, b: unknown, amounts: IsAmount, holder = '', field = ''): boolean {
  if (a === b || (isAbsent(a) && isAbsent(b))) return true
  if (typeof a === 'string' && typeof b === 'string')
    return amounts(holder, field) && compareQuantities(a, b) === 0
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => same(item, b[i], amounts))
  }
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return (
    Object.keys(left).every((key) => same(left[key], ownValue(right, key), amounts, field, key)) &&
    Object.keys(right).every((key) => Object.hasOwn(left, key) || isAbsent(right[key])) &&
    !hasFraction(left)
  )
}

/**
 * Whether the client wrote a time with fractional seconds. It then always differs from the stored
 * time.
 */
function hasFraction(holder: object): boolean {
  for (const text of textsWritten(holder)) if ((parseTimestamp(text)?.nanos ?? 0) !== 0) return true
  return false
}

/** Validates that a string, number or boolean does not change. Absent and zero are equal. */
export const checkImmutable = (next: unknown, old: unknown, path: FieldPath): FieldError[] =>
  (next ?? '') === (old ?? '') ? [] : [invalid(path, next, immutableMessage)]

/** A path of a file system must not climb: `a/../b`. */
export const checkNoBacksteps = (value: string, path: FieldPath): FieldError[] =>
  value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : []

export const resourceVersionRequired = (version: string | undefined): FieldError[] =>
  version === undefined || version === '' ? [required('resourceVersion')] : []

/** Whether a LabelSelector is valid: known operators, valid keys and values. */
export function isLabelSelector(selector: Loose | null | undefined): boolean {
  try {
    selectorOf(selector)
    return true
  } catch (error) {
    if (error instanceof LabelSelectorError) return false
    throw error
  }
}

/**
 * Whether a field is unchanged, including the difference between nil and empty. An empty list that
 * the client wrote differs from an absent one.
 */
export const isAsBefore = (next: Loose, old: Loose, field: string): boolean =>
  sameJson(next[field], old[field]) && (!isAbsent(next[field]) || !wasWrittenEmpty(next, field))

/**
 * A list for messages. A list that was written empty is shown as empty, though its canonical form
 * is absent.
 */
export function listAsWritten<T>(holder: Loose | undefined, field: string): T[] | undefined {
  return holder?.[field] ?? (wasWrittenEmpty(holder, field) ? [] : undefined)
}
