/**
 * The fields of custom objects that field selectors may name: scalars that the schema declares,
 * outside metadata.
 */
import { duplicate, type FieldError, invalid, required, tooMany } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { findPath } from '#kinds/custom/rules/rule-path.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { unsupported } from '#schema/structural/rules.ts'

/** The most fields of one version, since each costs time and memory per object. */
const fieldsMax = 8
const scalarTypes = ['string', 'boolean', 'integer']
const notScalar =
  'must point to a field of type string, boolean or integer. ' +
  'Enum string fields and strings with formats are allowed.'

const keepsTooMany = change('definitions keep more selectable fields than are allowed', {
  since: 35,
})

/**
 * Names of versions, or '' for all of them, that already exceeded the limit of selectable fields
 * and did not change them.
 */
export function keptSelections(spec: Loose, old: Loose, release: Release): ReadonlySet<string> {
  if (!release.has(keepsTooMany)) return new Set()
  const had = new Map<string, Loose>((old.versions ?? []).map((one: Loose) => [one.name, one]))
  const isKept = (now: Loose, before: Loose | undefined): boolean =>
    (before?.selectableFields?.length ?? 0) > fieldsMax &&
    sameJson(now.selectableFields, before?.selectableFields)
  const kept = (spec.versions ?? []).filter((one: Loose) => isKept(one, had.get(one.name)))
  return new Set([
    ...(isKept(spec, old) ? [''] : []),
    ...kept.map((one: Loose): string => one.name),
  ])
}

/**
 * `holder`: a version, or the spec in the beta's form. `missing`: the error if the holder has no
 * schema.
 */
export function checkSelectableFields(
  fields: readonly Loose[] | null | undefined,
  validation: Loose | null | undefined,
  missing: string,
  path: FieldPath,
  isKept: boolean,
): FieldError[] {
  if (!fields?.length) return []
  const schema: JsonSchema | undefined = validation?.openAPIV3Schema ?? undefined
  if (schema === undefined) return [invalid(path, '', missing)]
  // Another rule reports a schema that is not structural.
  if (unsupported(schema) !== undefined) return []
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { jsonPath = '' }] of fields.entries())
    errors.push(...checkField(jsonPath, schema, path.index(i).child('jsonPath'), seen))
  if (seen.size > fieldsMax && !isKept) errors.push(tooMany(path, seen.size, fieldsMax))
  return errors
}

function checkField(
  jsonPath: string,
  schema: JsonSchema,
  path: FieldPath,
  seen: Set<string>,
): FieldError[] {
  if (jsonPath === '') return [required(path)]
  const found = findPath(jsonPath, schema, false)
  if (typeof found === 'string') return [invalid(path, jsonPath, `is an invalid path: ${found}`)]
  const errors: FieldError[] = []
  if (found.root === 'metadata')
    errors.push(invalid(path, jsonPath, 'must not point to fields in metadata'))
  if (!scalarTypes.includes(found.schema.type ?? ''))
    errors.push(invalid(path, jsonPath, notScalar))
  const name = found.path.toString()
  if (seen.has(name)) errors.push(duplicate(path, jsonPath))
  seen.add(name)
  return errors
}
