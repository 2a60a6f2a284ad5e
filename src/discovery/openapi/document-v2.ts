/**
 * /openapi/v2: every path and definition in one document.
 */
import type { Kind } from '#kinds/kind.ts'
import {
  definitionsFor,
  groupVersionKinds,
  namesIn,
  neededByOwn,
  ownDefinitions,
} from './definitions.ts'
import { kindOperations } from './kind-operations.ts'
import { type Operation, reasonPhrases } from './operation.ts'
import { allOperations, byName, type PathForm, pathsOf } from './paths.ts'
import { form2 } from './schema-form.ts'
import { type JsonObject, type OpenApiSource, securityDescription } from './source.ts'

/** The document of these kinds and of discovery. `also`: definitions that others will refer to. */
export function documentV2(
  source: OpenApiSource,
  kinds: readonly Kind[] = source.kinds,
  also: Iterable<string> = [],
): JsonObject {
  const operations = allOperations(source, kinds)
  const names = [...namesIn(operations), ...also]
  const token = { type: 'apiKey', name: 'authorization', in: 'header' }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: `v${source.facts.versionOf(source.release)}` },
    paths: pathsOf(operations, pathForm),
    definitions: definitionsFor(names, kinds, source, groupVersionKinds(source), form2),
    securityDefinitions: { BearerToken: { description: securityDescription, ...token } },
    security: [{ BearerToken: [] }],
  }
}

/** What one custom kind adds to the document, and the definitions of others that it refers to. */
export function additionV2(
  source: OpenApiSource,
  kind: Kind,
): { paths: JsonObject; definitions: JsonObject; needs: readonly string[] } {
  const operations = kindOperations(source, kind)
  const names = namesIn(operations)
  const definitions: JsonObject = {}
  for (const [name, make] of ownDefinitions(kind, source, form2)) {
    if (names.delete(name)) definitions[name] = make()
  }
  return { paths: pathsOf(operations, pathForm), definitions, needs: [...names, ...neededByOwn] }
}

const pathForm: PathForm = {
  parameter: (parameter) => ({
    uniqueItems: true,
    type: parameter.type,
    ...(parameter.description === '' ? undefined : { description: parameter.description }),
    name: parameter.name,
    in: parameter.in,
    ...(parameter.in === 'path' ? { required: true } : undefined),
  }),
  operation(one, parameters) {
    if (one.body !== undefined) {
      const body: JsonObject = { name: 'body', in: 'body', schema: form2.refer(one.body.type, {}) }
      parameters.push(one.body.required ? { ...body, required: true } : body)
    }
    return {
      description: one.description,
      ...(one.consumes === undefined ? undefined : { consumes: [...one.consumes] }),
      ...(one.produces === undefined ? undefined : { produces: [...one.produces] }),
      schemes: ['https'],
      tags: [one.tag],
      operationId: one.id,
      ...(parameters.length > 0 ? { parameters: byName(parameters) } : undefined),
      responses: responsesOf(one),
      ...(one.action === undefined ? undefined : { 'x-kubernetes-action': one.action }),
      ...(one.gvk === undefined
        ? undefined
        : { 'x-kubernetes-group-version-kind': { ...one.gvk } }),
    }
  },
}

function responsesOf({ codes, answer }: Operation): JsonObject {
  const responses: JsonObject = {}
  for (const code of codes) {
    const response: JsonObject = { description: reasonPhrases[code] }
    if (answer === 'string') response.schema = { type: 'string' }
    else if (answer !== undefined) response.schema = form2.refer(answer, {})
    responses[code] = response
  }
  responses[401] = { description: reasonPhrases[401] }
  return responses
}
