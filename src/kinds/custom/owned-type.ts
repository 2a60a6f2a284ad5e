/**
 * The type by which fields of custom objects are owned. kube-apiserver makes it from the definition
 * in OpenAPI 2. If that cannot express a part of any version, as in older releases, no version has
 * a type. Maps are then owned key by key and lists whole.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  isIntOrString,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  valuesOf,
} from '#schema/structural/json-schema.ts'
import type { Type } from '#schema/type.ts'

const ownsNullables = change('fields of custom objects that may be null have owners', { since: 17 })
const ownsIntOrStrings = change('fields of custom objects that are int or string have owners', {
  since: 21,
})

const deduced: Type = { is: 'untyped' }
const known = new WeakMap<KubeObject, boolean>()

/** undefined: by the type of its version. */
export function ownedTypeOf(definition: KubeObject, release: number): Type | undefined {
  if (releaseOf(release).has(ownsIntOrStrings)) return undefined
  let said = known.get(definition)
  if (said === undefined) {
    const versions: Loose[] = definition.spec.versions ?? []
    said = versions.every(({ schema }) => isExpressible(schema?.openAPIV3Schema, release))
    known.set(definition, said)
  }
  return said ? undefined : deduced
}

function isExpressible(schema: JsonSchema | null | undefined, release: number): boolean {
  if (!schema) return true
  if (isIntOrString(schema) || (schema.nullable === true && !releaseOf(release).has(ownsNullables)))
    return false
  const inside = [...propertiesOf(schema).map(([, one]) => one), itemsOf(schema), valuesOf(schema)]
  return inside.every((one) => isExpressible(one, release))
}
