import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { ownedTypeOf } from './owned-type.ts'

/** A definition with two versions: the second has the field in a list. */
const definitionWith = (field: JsonSchema): KubeObject => {
  const list: JsonSchema = { type: 'array', items: field }
  const versions = [{ type: 'object' }, { type: 'object', properties: { list } }]
  return {
    spec: { versions: versions.map((openAPIV3Schema) => ({ schema: { openAPIV3Schema } })) },
  } as unknown as KubeObject
}

checkBoundaries<JsonSchema, string | undefined>(
  (release, field) => ownedTypeOf(definitionWith(field), release)?.is,
  [
    [
      'a field that may be null',
      [16, 17],
      { type: 'string', nullable: true },
      'untyped',
      undefined,
    ],
    [
      'a field that is int or string',
      [20, 21],
      { 'x-kubernetes-int-or-string': true },
      'untyped',
      undefined,
    ],
    ['a text', [15, 16], { type: 'string' }, undefined, undefined],
  ],
)
