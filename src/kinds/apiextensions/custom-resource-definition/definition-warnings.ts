/**
 * Warnings about parts of a definition's schemas that have no effect. An update does not repeat
 * warnings of the old definition.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { itemsOf, type JsonSchema, listTypeOf } from '#schema/structural/json-schema.ts'
import { isUnknownFormat } from '#schema/structural/schema-format.ts'
import { betaSpec } from './conversions.ts'
import { schemasOf, specHas } from './schema-search.ts'

const warnsOfSets = change('a definition with sets of objects or lists gets a warning', {
  since: 37,
})

function schemaWarnings(object: KubeObject, pick: (schema: JsonSchema) => string | undefined) {
  const found: string[] = []
  const spec = betaSpec(object.spec ?? {})
  if (schemasOf(spec).length === 0) return found
  specHas(spec, (schema) => {
    const warning = pick(schema)
    if (warning !== undefined) found.push(warning)
    return false
  })
  return found
}

const formatWarnings = (object: KubeObject, release: Release): string[] =>
  schemaWarnings(object, (schema) =>
    isUnknownFormat(schema, release)
      ? `unrecognized format ${goQuote(schema.format ?? '')}`
      : undefined,
  )

function setWarnings(object: KubeObject, release: Release): string[] {
  if (!release.has(warnsOfSets)) return []
  const found = schemaWarnings(object, (schema) => {
    const type = itemsOf(schema)?.type
    if (listTypeOf(schema) !== 'set' || (type !== 'object' && type !== 'array')) return undefined
    const what = `x-kubernetes-list-type: set for items of type ${goQuote(type)}`
    return `${what} is not supported by server-side apply or CEL validation rules`
  })
  return [...new Set(found)].sort()
}

export function definitionWarnings(
  object: KubeObject,
  old: KubeObject | undefined,
  release: Release,
): string[] {
  return [formatWarnings, setWarnings].flatMap((warningsOf) => {
    const before = new Set(old === undefined ? [] : warningsOf(old, release))
    return warningsOf(object, release).filter((one) => !before.has(one))
  })
}
