/**
 * Generates /openapi/v2 as a whole, for tests: the document that is assembled from parts must be
 * equal.
 */
import { definitionsFor, groupVersionKinds, namesIn } from './definitions.ts'
import { aroundV2, pathForm } from './document-v2.ts'
import { rootOperations } from './group-operations.ts'
import { kindOperations } from './kind-operations.ts'
import { discoveryOperations, pathsOf } from './paths.ts'
import { form2 } from './schema-form.ts'
import type { JsonObject, OpenApiSource } from './source.ts'

export function documentV2(source: OpenApiSource): JsonObject {
  const { kinds } = source
  const operations = [
    ...rootOperations(source),
    ...discoveryOperations(source),
    ...kinds.flatMap((kind) => kindOperations(source, kind)),
  ]
  const gvks = groupVersionKinds(source)
  return {
    ...aroundV2(source),
    paths: pathsOf(operations, pathForm),
    definitions: definitionsFor(namesIn(operations), kinds, source, gvks, form2),
  }
}
