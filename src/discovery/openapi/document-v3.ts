/**
 * Generates /openapi/v3: the list of documents, and one document per group version with the
 * definitions that its operations need.
 */
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import type { Kind } from '#kinds/kind.ts'
import {
  definitionsFor,
  type Gvks,
  kindsInCustomDocument,
  kindsInDocument,
  namesIn,
} from './definitions.ts'
import { groupOperation, groupVersionOperation, rootOperations } from './group-operations.ts'
import { kindOperations } from './kind-operations.ts'
import { type OpenApiOperation, reasonPhrases } from './operation.ts'
import { byName, groupVersionsOf, type PathForm, pathsOf } from './paths.ts'
import { form3 } from './schema-form.ts'
import {
  documentInfo,
  hasStandardV3,
  isOfTables,
  type JsonObject,
  type OpenApiSource,
  securityDescription,
} from './source.ts'

/** The contents of one document. */
export interface ContentV3 {
  readonly operations: readonly OpenApiOperation[]
  readonly kinds: readonly Kind[]
  /** Absent for a document that is not of a group version. */
  readonly of?: { readonly group: string; readonly version: string; readonly builtIn: boolean }
}

const describesRegistration = change('OpenAPI v3 has the documents of apiregistration.k8s.io', {
  since: 27,
})

/** The names of all documents, each with a function that returns its contents. */
export function documentsV3(source: OpenApiSource): Map<string, () => ContentV3> {
  const documents = new Map<string, () => ContentV3>()
  const only = (one: OpenApiOperation) => () => ({ operations: [one], kinds: [] })
  for (const one of rootOperations(source)) {
    documents.set(one.path.replace(/^\/|\/$/g, ''), only(one))
  }
  const release = releaseOf(source.release)
  const omitsRegistration = release.has(hasStandardV3) && !release.has(describesRegistration)
  for (const [group, version] of groupVersionsOf(source)) {
    if (omitsRegistration && group === 'apiregistration.k8s.io') continue
    const builtIn = isOfTables(source, group, version)
    if (builtIn && group !== '') documents.set(`apis/${group}`, only(groupOperation(source, group)))
    documents.set(group === '' ? `api/${version}` : `apis/${group}/${version}`, () => {
      const kinds = source.kinds.filter((kind) => kind.group === group && kind.version === version)
      const own = builtIn ? [groupVersionOperation(source, group, version)] : []
      const operations = [...own, ...kinds.flatMap((kind) => kindOperations(source, kind))]
      return { operations, kinds, of: { group, version, builtIn } }
    })
  }
  return new Map([...documents].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function documentV3(content: ContentV3, source: OpenApiSource, gvks: Gvks): JsonObject {
  const { operations, kinds, of } = content
  const release = releaseOf(source.release)
  const isCustom = of?.builtIn === false
  const shown = of === undefined ? gvks : kindsOfDocument(gvks, release, of)
  const schemas = definitionsFor(namesIn(operations), kinds, source, shown, form3)
  const token = { type: 'apiKey', name: 'authorization', in: 'header' }
  const securitySchemes = { BearerToken: { description: securityDescription, ...token } }
  const omits = release.has(hasStandardV3)
  const hasSchemas = !omits || Object.keys(schemas).length > 0
  return {
    openapi: '3.0.0',
    info: isCustom && omits ? customInfo : documentInfo(source),
    paths: pathsOf(operations, pathForm(release)),
    components: {
      ...(hasSchemas && { schemas }),
      ...(!(isCustom && omits) && { securitySchemes }),
    },
  }
}

/** kube-apiserver generates the documents of custom kinds apart from its own. */
const customInfo: JsonObject = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }

const kindsOfDocument = (gvks: Gvks, release: Release, of: NonNullable<ContentV3['of']>): Gvks =>
  of.builtIn ? kindsInDocument(gvks, release, of) : kindsInCustomDocument(gvks, release)

const omitsRequired = change('OpenAPI v3 does not say which request bodies are required', {
  since: 24,
  until: 28,
})

const pathForm = (release: Release): PathForm => ({
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
    ...requestBodyOf(one, !release.has(omitsRequired)),
    responses: responsesOf(one),
    ...(one.action === undefined ? undefined : { 'x-kubernetes-action': one.action }),
    ...(one.gvk === undefined ? undefined : { 'x-kubernetes-group-version-kind': { ...one.gvk } }),
  }),
})

const contentOf = (mediaTypes: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]))

function requestBodyOf(
  { body, consumes = ['*/*'] }: OpenApiOperation,
  showsRequired: boolean,
): JsonObject | undefined {
  if (body === undefined) return undefined
  const content = contentOf(consumes, form3.refer(body.type, {}))
  return { requestBody: body.required && showsRequired ? { content, required: true } : { content } }
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
