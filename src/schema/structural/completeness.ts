/**
 * Checks that every field and item in anyOf, oneOf, allOf and not is also declared outside of them.
 */
import { type FieldError, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { itemsOf, type JsonSchema, propertiesOf, propertyOf } from './json-schema.ts'

/** kube-apiserver starts this check only at the root. */
export const checkComplete = (schema: JsonSchema, path: FieldPath): FieldError[] =>
  checkJunctors(schema, schema, path, path)

/** `inner` restricts values of `outer`; each has its own path. */
function checkJunctors(
  inner: JsonSchema,
  outer: JsonSchema,
  outerPath: FieldPath,
  innerPath: FieldPath,
): FieldError[] {
  const { not, allOf = [], anyOf = [], oneOf = [] } = inner
  const errors: FieldError[] = []
  if (not !== undefined) errors.push(...checkInner(not, outer, outerPath, innerPath.child('not')))
  for (const [name, list] of [
    ['allOf', allOf],
    ['anyOf', anyOf],
    ['oneOf', oneOf],
  ] as const) {
    for (const [i, one] of list.entries()) {
      errors.push(...checkInner(one, outer, outerPath, innerPath.child(name).index(i)))
    }
  }
  return errors
}

function checkInner(
  inner: JsonSchema,
  outer: JsonSchema | undefined,
  outerPath: FieldPath,
  innerPath: FieldPath,
): FieldError[] {
  if (outer === undefined) return [required(outerPath, `because it is defined in ${innerPath}`)]
  const errors = checkJunctors(inner, outer, outerPath, innerPath)
  const items = itemsOf(inner)
  if (items !== undefined) {
    errors.push(
      ...checkInner(items, itemsOf(outer), outerPath.child('items'), innerPath.child('items')),
    )
  }
  for (const [name, one] of propertiesOf(inner)) {
    const at = outerPath.child('properties').key(name)
    const from = innerPath.child('properties').key(name)
    errors.push(...checkInner(one, propertyOf(outer, name), at, from))
  }
  return errors
}
