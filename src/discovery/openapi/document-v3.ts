/**
 * Generates /openapi/v3: the list of documents, and one document per group version with the
 * definitions that its operations need.
 */
import type { Kind } from '#kinds/kind.ts'
import { type Gvks, definitionsFor, namesIn } from './definitions.ts'
import { groupOperation, groupVersionOperation, rootOperations } from './group-operations.ts'
import { kindOperations } from './kind-operations.ts'
import { type OpenApiOperation, reasonPhrases } from './operation.ts'
import { byName, groupVersionsOf, type PathForm, pathsOf } from './paths.ts'
import { form3 } from './schema-form.ts'
import {
  documentInfo,
  isOfTables,
  type JsonObject,
  type OpenApiSource,
  securityDescription,
} from './source.ts'

/** The contents of one document. */
export interface ContentV3 {
  readonly operations: readonly OpenApiOperation[]
  readonly kinds: readonly Kind[]
}

/** The names of all documents, each with a function that returns its contents. */
export function documentsV3(source: OpenApiSource): Map<string, () => ContentV3> {
  const documents = new Map<string, () => ContentV3>()
  const only = (one: OpenApiOperation) => () => ({ operations: [one], kinds: [] })
  for (const one of rootOperations(source)) {
    documents.set(one.path.replace(/^\/|\/$/g, ''), only(one))
  }
  for (const [group, version] of groupVersionsOf(source)) {
    const builtIn = isOfTables(source, group, version)
    if (builtIn && group !== '') documents.set(`apis/${group}`, only(groupOperation(source, group)))
    documents.set(group === '' ? `api/${version}` : `apis/${group}/${version}`, () => {
      const kinds = source.kinds.filter((kind) => kind.group === group && kind.version === version)
      const own = builtIn ? [groupVersionOperation(source, group, version)] : []
      const operations = [...own, ...kinds.flatMap((kind) => kindOperations(source, kind))]
      return { operations, kinds }
    })
  }
  return new Map([...documents].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function documentV3(
  { operations, kinds }: ContentV3,
  source: OpenApiSource,
  gvks: Gvks,
): JsonObject {
  const token = { type: 'apiKey', name: 'authorization', in: 'header' }
  return {
    openapi: '3.0.0',
    info: documentInfo(source),
    paths: pathsOf(operations, pathForm),
    components: {
      schemas: definitionsFor(namesIn(operations), kinds, source, gvks, form3),
      securitySchemes: { BearerToken: { description: securityDescription, ...token } },
    },
  }
}

const pathForm: PathForm = {
  parameter: (parameter) => ({
    name: parameter.name,
    in: parameter.in,
    ...(parameter.description === '' ? undefined : { description: parameter.description }),
    ...(parameter.in === 'path' ? { required: true } : undefined),
    schema: { type: parameter.type, uniqueItems: true },
  }),
  operation: (one, parameters) => ({
    tags: [one.tag],
    description: one.description,
    operationId: one.id,
    ...(parameters.length > 0 ? { parameters: byName(parameters) } : undefined),
    ...requestBodyOf(one),
    responses: responsesOf(one),
    ...(one.action === undefined ? undefined : { 'x-kubernetes-action': one.action }),
    ...(one.gvk === undefined ? undefined : { 'x-kubernetes-group-version-kind': { ...one.gvk } }),
  }),
}

const contentOf = (mediaTypes: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]))

function requestBodyOf({ body, consumes = ['*/*'] }: OpenApiOperation): JsonObject | undefined {
  if (body === undefined) return undefined
  const content = contentOf(consumes, form3.refer(body.type, {}))
  return { requestBody: body.required ? { content, required: true } : { content } }
}

function responsesOf({ codes, answer, produces = [] }: OpenApiOperation): JsonObject {
  const responses: JsonObject = {}
  for (const code of codes) {
    const response: JsonObject = { description: reasonPhrases[code] }
    if (answer !== undefined) {
      const schema = answer === 'string' ? { type: 'string' } : form3.refer(answer, {})
      response.content = contentOf(produces, schema)
    }
    responses[code] = response
  }
  responses[401] = { description: reasonPhrases[401] }
  return responses
}
